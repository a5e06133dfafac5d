"""Request signatures: base64 HMAC-SHA256 over the canonical request."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from typing import Dict


def canonical_request(method: str, path: str, timestamp: str, nonce: str, body: bytes) -> str:
    """Five lines: method, path, timestamp, nonce, hex SHA-256 of the body (empty without one).

    A request is signed without its query, a webhook with it.
    """
    digest = hashlib.sha256(body).hexdigest() if body else ""
    return "\n".join([method, path, timestamp, nonce, digest, ""])


def signature_of(canonical: str, secret: str) -> str:
    """The HMAC key is the UTF-8 secret with its prefix."""
    mac = hmac.new(secret.encode(), canonical.encode(), hashlib.sha256)
    return base64.b64encode(mac.digest()).decode()


def is_signature_of(given: str, canonical: str, secret: str) -> bool:
    """In constant time."""
    return hmac.compare_digest(signature_of(canonical, secret).encode(), given.encode())


def new_nonce() -> str:
    return secrets.token_hex(32)


def brand_header(brand: str, name: str) -> str:
    """For example `X-Service-Key-Id`."""
    return f"X-{brand}-{name}"


def sign_request(
    key_id: str,
    secret: str,
    brand: str,
    method: str,
    path: str,
    timestamp: str,
    nonce: str,
    body: bytes,
) -> Dict[str, str]:
    """The four headers of a signed request. The query of the path is not signed."""
    canonical = canonical_request(method, path.split("?", 1)[0], timestamp, nonce, body)
    return {
        brand_header(brand, "Key-Id"): key_id,
        brand_header(brand, "Timestamp"): timestamp,
        brand_header(brand, "Nonce"): nonce,
        brand_header(brand, "Signature"): signature_of(canonical, secret),
    }
