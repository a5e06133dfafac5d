"""Signing, retries, errors, pagination and webhooks, against a scripted server."""

import asyncio
import json
import os
import platform
import socket
import threading
import unittest
from datetime import datetime, timezone
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import causeway
from causeway.signing import brand_header

NO_RETRY = causeway.RetryOptions(attempts=1)
PAYOUT = {"amount": "1", "currency": "VND", "beneficiary_id": "ben_1", "reference": "r"}


def refusal(code):
    return {"error": {"code": code, "message": "m", "request_id": "req_1"}}


class World:
    """A server with answers by script, and a client that records its pauses."""

    def __init__(self, case, script, **options):
        self.requests = []
        self.pauses = []
        world = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def serve(self):
                size = int(self.headers.get("Content-Length", 0))
                body = self.rfile.read(size).decode()
                headers = {name.lower(): value for name, value in self.headers.items()}
                world.requests.append((self.command, self.path, headers, body))
                reply = script(self.path, len(world.requests))
                if reply == "hang up":
                    self.connection.shutdown(socket.SHUT_RDWR)
                    self.close_connection = True
                    return
                if reply == "stay silent":
                    released.wait(10)
                    self.close_connection = True
                    return
                status, answer, more = (*reply, {}, {})[:3] if len(reply) < 3 else reply
                content = b"" if status == 204 else json.dumps(answer).encode()
                self.send_response_only(status)
                if "idempotency-key" in headers:
                    more = {"Idempotency-Key": headers["idempotency-key"], **more}
                for name, value in more.items():
                    self.send_header(name, value)
                if status != 204:
                    self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = do_PATCH = do_DELETE = do_CONNECT = serve

            def log_message(self, *arguments):
                pass

        released = threading.Event()
        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        case.addCleanup(server.server_close)
        case.addCleanup(server.shutdown)
        case.addCleanup(released.set)
        self.client = causeway.Client(
            f"http://127.0.0.1:{server.server_port}",
            "a_sandbox_2026q4",
            "sk",
            **{"random": lambda: 1.0, "sleep": self.pauses.append, **options},
        )

    def headers(self, name):
        return [headers.get(name) for _, _, headers, _ in self.requests]


class Signing(unittest.TestCase):
    def test_the_published_vectors(self):
        with open(os.environ["SIGNATURE_VECTORS"], encoding="utf-8") as file:
            vectors = json.load(file)["vectors"]
        self.assertGreater(len(vectors), 5)
        for vector in vectors:
            with self.subTest(vector["name"]):
                parts = (vector[name] for name in ("method", "path", "timestamp", "nonce"))
                canonical = causeway.canonical_request(*parts, vector["body"].encode())
                self.assertEqual(canonical, vector["canonical_request"])
                signature = causeway.signature_of(canonical, vector["secret"])
                self.assertEqual(signature, vector["signature"])

    def test_secrets_are_not_printed(self):
        credentials = causeway.Credentials("http://x", "key", "sk_secret")
        self.assertNotIn("sk_secret", repr(credentials))


class Retries(unittest.TestCase):
    def test_a_keyed_write_is_sent_again_with_the_same_key_and_a_fresh_nonce(self):
        script = [(503,), "hang up", (202, {"id": "p"})]
        world = World(self, lambda _path, number: script[number - 1])
        self.assertEqual(world.client.payouts.create(PAYOUT), {"id": "p"})
        self.assertEqual(len(set(world.headers("idempotency-key"))), 1)
        self.assertEqual(len(set(world.headers("x-service-nonce"))), 3)
        self.assertEqual(world.pauses, [0.25, 0.5])

    def test_retry_after_is_obeyed(self):
        day = "Sat, 21 Nov 2026 04:35:{} GMT"
        script = [
            (429, {}, {"Retry-After": "2"}),
            (429, {}, {"Retry-After": day.format(43), "Date": day.format(40)}),
            (429, {}, {"Retry-After": "soon"}),
            (200, {"data": []}),
            (429, {}, {"Retry-After": "3600"}),
        ]
        world = World(self, lambda _path, number: script[number - 1])
        self.assertEqual(world.client.balances(), [])
        self.assertEqual(world.pauses, [2.0, 3.0, 1.0])
        with self.assertRaises(causeway.RateLimitError) as caught:
            world.client.balances()
        self.assertEqual(caught.exception.retry_after_s, 3600.0)
        self.assertEqual(len(world.pauses), 3, "above the limit it is not waited for")

    def test_an_unknown_outcome_is_repeated_only_when_that_is_harmless(self):
        world = World(self, lambda _path, _number: (503, refusal("configuration_error")))
        for call, requests in (
            (lambda: world.client.payment_intents.cancel("pi_1"), 1),
            (lambda: world.client.webhook_endpoints.enable("we_1"), 9),
            (lambda: world.client.payouts.get("pout_1"), 9),
        ):
            before = len(world.requests)
            with self.assertRaises(causeway.ServiceError):
                call()
            self.assertEqual(len(world.requests) - before, requests)

    def test_a_write_that_was_certainly_not_carried_out_is_sent_again(self):
        world = World(
            self, lambda _path, number: (429, refusal("rate_limited")) if number < 3 else (200, {})
        )
        world.client.payment_intents.cancel("pi_1")
        self.assertEqual(len(world.requests), 3)
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            port = unused.getsockname()[1]
        pauses = []
        client = causeway.Client(f"http://127.0.0.1:{port}", "a", "sk", sleep=pauses.append)
        with self.assertRaises(causeway.NoAnswerError):
            client.payment_intents.cancel("pi_1")
        self.assertEqual(len(pauses), 8)

    def test_an_attempt_ends_at_its_timeout(self):
        world = World(self, lambda _path, _number: "stay silent", timeout_s=0.05)
        with self.assertRaises(causeway.NoAnswerError) as caught:
            world.client.payouts.create(PAYOUT)
        keys = set(world.headers("idempotency-key"))
        self.assertEqual(keys, {caught.exception.idempotency_key})

    def test_a_2xx_without_json_is_an_unknown_outcome(self):
        world = World(self, lambda _path, _number: (204,))
        for call, requests in (
            (lambda: world.client.payouts.create(PAYOUT), 9),
            (lambda: world.client.payouts.cancel("pout_1"), 1),
        ):
            before = len(world.requests)
            with self.assertRaises(causeway.ServiceError) as caught:
                call()
            self.assertEqual(caught.exception.code, "unknown")
            self.assertTrue(caught.exception.retryable)
            self.assertEqual(len(world.requests) - before, requests)

    def test_an_error_of_a_proxy_is_one_of_its_status(self):
        bodies = [None, "Bad Gateway", [], {"error": None}, {"error": "Bad Gateway"}]
        bodies.append({"error": {"code": 502, "message": None, "request_id": 7}})
        world = World(self, lambda _path, number: (502, bodies[number - 1]))
        for body in bodies:
            with self.subTest(body=body), self.assertRaises(causeway.ServiceError) as caught:
                world.client.payouts.cancel("pout_1")
            self.assertEqual(caught.exception.code, "unknown")
            self.assertTrue(caught.exception.retryable)
            self.assertEqual(
                str(caught.exception), "502 unknown: not an answer of the service ()"
            )

    def test_the_retries_last_15_to_20_seconds_by_default(self):
        for random, total in ((0.0, 15.8), (1.0, 19.75)):
            world = World(self, lambda _path, _number: (503,), random=lambda random=random: random)
            with self.assertRaises(causeway.ServiceError):
                world.client.payouts.create(PAYOUT)
            self.assertAlmostEqual(sum(world.pauses), total)

    def test_a_connection_is_used_again(self):
        world = World(self, lambda _path, _number: (200, {"id": "p"}))
        first = world.client._connection._http._connection()
        self.assertIsNone(first.sock)
        world.client.payouts.get("p1")
        kept = world.client._connection._http._kept.value[0]
        world.client.payouts.get("p2")
        self.assertIs(world.client._connection._http._kept.value[0], kept)


class Answers(unittest.TestCase):
    def test_a_result_has_the_response_and_stays_a_dictionary(self):
        headers = {"X-Request-Id": "req_1", "Idempotent-Replayed": "true"}
        script = [(503,), (202, {"id": "p"}, headers)]
        world = World(self, lambda _path, number: script[number - 1])
        payout = world.client.payouts.create(PAYOUT, "k")
        self.assertEqual(payout, {"id": "p"})
        self.assertEqual(json.dumps(payout), '{"id": "p"}')
        response = causeway.response_of(payout)
        self.assertEqual((response.status, response.request_id), (202, "req_1"))
        self.assertEqual((response.replayed, response.idempotency_key), (True, "k"))
        self.assertEqual(response.attempts, 2)
        with self.assertRaises(TypeError):
            causeway.response_of({})

    def test_a_refused_signature_has_advice(self):
        now = 1795235740.0
        reply = (401, refusal("authentication_failed"), {"Date": formatdate(now, usegmt=True)})
        for ahead_s, advice in (
            (-600, " Your clock is 600 s behind the service's."),
            (301, " Your clock is 301 s ahead of the service's."),
            (0, " client.sandbox.check_signature() tells why."),
        ):
            client = World(self, lambda *_: reply, now=lambda: now + ahead_s).client
            with self.assertRaises(causeway.AuthenticationError) as caught:
                client.account()
            self.assertEqual(str(caught.exception), f"401 authentication_failed: m{advice} (req_1)")
            with self.assertRaisesRegex(causeway.AuthenticationError, r"failed: m \(req_1\)$"):
                client.session("token").get("pi_1")

    def test_what_no_request_can_be_sent_with_is_refused_at_once(self):
        for given, message in (
            (("http://x", "a", None), "secret is missing"),
            (("http://x", "", "sk"), "key_id is missing"),
            (("localhost:8080", "a", "sk"), "not an http or https address: 'localhost:8080'"),
        ):
            with self.assertRaisesRegex(ValueError, message):
                causeway.Client(*given)

    def test_an_error_has_the_headers_of_its_answer(self):
        world = World(self, lambda _path, _number: (404, {}, {"Via": "x"}))
        with self.assertRaises(causeway.NotFoundError) as caught:
            world.client.payouts.get("p")
        self.assertEqual(caught.exception.headers["via"], "x")

    def test_each_attempt_is_reported(self):
        attempts = []
        script = [(503,), "hang up", (202, {"id": "p"}, {"X-Request-Id": "req_1"})]
        world = World(self, lambda _path, number: script[number - 1], on_attempt=attempts.append)
        world.client.payouts.create(PAYOUT, "k")
        self.assertEqual([each.status for each in attempts], [503, None, 202])
        self.assertEqual([each.retry_in_s for each in attempts], [0.25, 0.5, None])
        self.assertEqual([each.number for each in attempts], [1, 2, 3])
        self.assertIsInstance(attempts[1].error, causeway.NoAnswerError)
        self.assertEqual((attempts[2].request_id, attempts[2].idempotency_key), ("req_1", "k"))

    def test_requests_name_the_version_of_the_package(self):
        world = World(self, lambda _path, _number: (200, {}))
        world.client.payouts.get("p")
        own = f"causeway-client-python/{causeway.__version__} python/{platform.python_version()}"
        transport = causeway.Transport(user_agent="shop/2.0")
        other = World(self, lambda _path, _number: (200, {}), transport=transport)
        other.client.payouts.get("p")
        self.assertEqual(world.headers("user-agent"), [own])
        self.assertEqual(other.headers("user-agent"), [f"{own} shop/2.0"])

    def test_an_http_address_is_requested_from_the_proxy(self):
        world = World(self, lambda _path, _number: (200, {"id": "p"}))
        port = world.client._connection._http._url.port
        transport = causeway.Transport(proxy=f"http://u:p%40@127.0.0.1:{port}")
        client = causeway.Client("http://service.example:81", "a", "sk", transport=transport)
        self.assertEqual(client.payouts.get("p"), {"id": "p"})
        self.assertEqual(world.requests[0][1], "http://service.example:81/v1/payouts/p")
        self.assertEqual(world.headers("host"), ["service.example:81"])
        self.assertEqual(world.headers("proxy-authorization"), ["Basic dTpwQA=="])

    def test_an_https_address_is_reached_through_a_tunnel(self):
        world = World(self, lambda _path, _number: (405,))
        port = world.client._connection._http._url.port
        transport = causeway.Transport(proxy=f"http://u:p%40@127.0.0.1:{port}")
        client = causeway.Client(
            "https://service.example", "a", "sk", transport=transport, retry=NO_RETRY
        )
        with self.assertRaisesRegex(causeway.NoAnswerError, "Tunnel connection failed: 405"):
            client.payouts.get("p")
        method, path, headers, _ = world.requests[0]
        self.assertEqual((method, path), ("CONNECT", "service.example:443"))
        self.assertEqual(headers["proxy-authorization"], "Basic dTpwQA==")

    def test_one_client_serves_the_threads_of_asyncio(self):
        world = World(self, lambda _path, _number: (202, {"id": "p"}))

        async def pay():
            create = world.client.payouts.create
            keys = [f"k{number}" for number in range(4)]
            calls = (asyncio.to_thread(create, PAYOUT, key) for key in keys)
            answers = await asyncio.gather(*calls)
            return [causeway.response_of(answer).idempotency_key for answer in answers], keys

        sent, keys = asyncio.run(pay())
        self.assertEqual(sent, keys)

    def test_a_payout_and_an_intent_are_polled_until_they_are_final(self):
        states = ["created", "processing", "completed", "authorized", "captured"]
        world = World(self, lambda _path, number: (200, {"status": states[number - 1]}))
        self.assertEqual(world.client.payouts.poll("p")["status"], "completed")
        self.assertEqual(world.client.payment_intents.poll("i")["status"], "captured")
        self.assertEqual(world.pauses, [1.25, 1.875, 2.8125, 1.25, 1.875])


class Errors(unittest.TestCase):
    def test_the_class_follows_the_code(self):
        script = [
            (422, refusal("insufficient_balance")),
            (409, refusal("insufficient_balance")),
            (409, refusal("duplicate_payout")),
            (422, refusal("a_code_of_later")),
            (302, {}, {"Location": "/elsewhere"}),
        ]
        world = World(self, lambda _path, number: script[number - 1])
        wanted = [
            causeway.InsufficientBalanceError,
            causeway.InsufficientBalanceError,
            causeway.IdempotencyConflictError,
            causeway.RefusedError,
            causeway.ApiError,
        ]
        for expected in wanted:
            with self.assertRaises(causeway.ApiError) as caught:
                world.client.payouts.create(PAYOUT, "key")
            self.assertIs(type(caught.exception), expected)
            self.assertEqual(caught.exception.idempotency_key, "key")
            if expected is causeway.IdempotencyConflictError:
                self.assertEqual(caught.exception.code, causeway.ErrorCode.DUPLICATE_PAYOUT)
        self.assertEqual(len(world.requests), len(wanted), "none is sent again")

    def test_a_key_is_printable_ascii_and_the_answer_repeats_it(self):
        world = World(self, lambda _path, _number: (202, {}, {"Idempotency-Key": "inv-"}))
        for key in ("inv-é", "", " a", "a\n", "x" * 256):
            with self.assertRaises(causeway.IdempotencyKeyError):
                world.client.payouts.create(PAYOUT, key)
        self.assertEqual(world.requests, [])
        with self.assertRaises(causeway.IdempotencyKeyError):
            world.client.payouts.create(PAYOUT, "inv-1")

    def test_an_id_cannot_name_another_path(self):
        world = World(self, lambda _path, _number: (200, {}))
        for id in ("", "..", "pout_1/cancel", "pout_1?x", "é", "a\n"):
            with self.assertRaises(ValueError):
                world.client.payouts.get(id)
        self.assertEqual(world.requests, [])

    def test_a_path_cannot_name_another_host(self):
        world = World(self, lambda _path, _number: (200, {}))
        for path in ("v1/balances", "", "@127.0.0.1/v1/balances"):
            with self.assertRaisesRegex(ValueError, "not a path"):
                world.client.request("GET", path)
        self.assertEqual(world.requests, [])


class Lists(unittest.TestCase):
    def test_pages_are_read_on_demand(self):
        def script(_path, number):
            return (200, {"data": [number], "next_cursor": None if number == 3 else "c+1"})

        world = World(self, script)
        payouts = iter(world.client.payouts.list(status="failed"))
        self.assertEqual(next(payouts), 1)
        self.assertEqual(len(world.requests), 1)
        self.assertEqual(list(payouts), [2, 3])
        paths = [path for _, path, _, _ in world.requests]
        self.assertEqual(paths[0], "/v1/payouts?status=failed")
        self.assertEqual(paths[1], "/v1/payouts?status=failed&cursor=c%2B1")

    def test_the_first_items_are_read_with_no_page_more_than_needed(self):
        def script(_path, number):
            return (200, {"data": [2 * number - 1, 2 * number], "next_cursor": "more"})

        world = World(self, script)
        self.assertEqual(world.client.payouts.list(limit=2).take(3), [1, 2, 3])
        self.assertEqual(len(world.requests), 2)
        self.assertEqual(world.client.payouts.list().take(0), [])
        self.assertEqual(len(world.requests), 2)

    def test_events_are_read_up_to_the_newest(self):
        def script(path, _number):
            after = int(path.split("after=")[1])
            page = {"data": [{"sequence": after + 1}], "next_after": after + 1}
            return (200, {**page, "has_more": after < 7})

        world = World(self, script)
        found = [event["sequence"] for event in world.client.events.list(after=5)]
        self.assertEqual(found, [6, 7, 8])

    def test_a_poll_waits_longer_each_time(self):
        def script(_path, number):
            return (200, {"status": "authorized" if number < 9 else "captured"})

        world = World(self, script)
        self.assertEqual(world.client.session("token").poll("pi_1")["status"], "captured")
        self.assertEqual(world.pauses[:3], [1.25, 1.875, 2.8125])
        self.assertEqual(max(world.pauses), 15 * 1.25)


NOW = datetime(2026, 11, 21, 4, 35, 40, tzinfo=timezone.utc).timestamp()
URL = "/hooks?a=b"
EVENT = {
    "id": "evt_1",
    "type": "payout.completed",
    "webhook_event_id": "evt_1",
    "webhook_event_type": "payout.completed",
    "api_version": "2026-11-01",
    "created_at": "2026-11-21T04:35:40.000Z",
    "data": {"payout": {}},
}


class Webhooks(unittest.TestCase):
    def setUp(self):
        self.nonces = 0
        self.events = causeway.MemoryEventStore()
        secret_of = {"we_1_1": "whsec_first"}.get
        self.verifier = causeway.WebhookVerifier(secret_of, self.events, now=lambda: NOW)

    def webhook(self, key_id="we_1_1", secret="whsec_first", minutes=0, nonce=None, event=EVENT):
        self.nonces += 1
        nonce = f"{self.nonces:064d}" if nonce is None else nonce
        at = datetime.fromtimestamp(NOW + minutes * 60, timezone.utc)
        timestamp = at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        body = json.dumps(event).encode()
        canonical = causeway.canonical_request("POST", URL, timestamp, nonce, body)
        values = {
            "Key-Id": key_id,
            "Timestamp": timestamp,
            "Nonce": nonce,
            "Signature": causeway.signature_of(canonical, secret),
            "Webhook-Event-Id": "evt_1",
            "Webhook-Event-Type": "payout.completed",
        }
        headers = {brand_header("Service", name): value for name, value in values.items()}
        return {"method": "POST", "url": URL, "headers": headers, "body": body}

    def fault(self, request):
        result = self.verifier.verify(**request)
        return result.fault or result.kind

    def test_a_webhook_signed_for_a_test(self):
        event = {"id": "evt_2", "type": "payout.failed", "data": {"payout": {"id": "pout_1"}}}
        key = ("we_1_1", "whsec_first", URL)
        signed = causeway.sign_test_webhook(event, *key, now=lambda: NOW)
        self.assertEqual(self.verifier.verify(*signed).event["data"], event["data"])
        self.assertEqual(self.verifier.verify(*signed).fault, "nonce_repeated")
        other = causeway.sign_test_webhook(event, *key, now=lambda: NOW)._replace(url="/other")
        self.assertEqual(self.verifier.verify(*other).fault, "wrong_signature")

    def test_a_genuine_event_and_its_duplicate(self):
        self.assertEqual(self.verifier.verify(**self.webhook()).event, EVENT)
        self.assertEqual(self.fault(self.webhook()), "verified", "it is not stored yet")
        self.assertTrue(self.events.add("evt_1"))
        self.assertFalse(self.events.add("evt_1"))
        self.assertEqual(self.fault(self.webhook()), "duplicate")

    def test_everything_else_is_refused_with_its_fault(self):
        for minutes in (-6, 6):
            self.assertEqual(self.fault(self.webhook(minutes=minutes)), "timestamp_outside_window")
        self.assertEqual(self.fault(self.webhook(minutes=-4)), "verified")
        nonce = "f" * 64
        self.assertEqual(self.fault(self.webhook(nonce=nonce)), "verified")
        self.assertEqual(self.fault(self.webhook(nonce=nonce)), "nonce_repeated")
        self.assertEqual(self.fault(self.webhook(nonce="short")), "nonce_repeated")
        self.assertEqual(self.fault(self.webhook(secret="other")), "wrong_signature")
        self.assertEqual(self.fault(self.webhook(key_id="we_1_9")), "unknown_key")
        empty = causeway.WebhookVerifier(lambda _: "", self.events, now=lambda: NOW)
        forged = empty.verify(**self.webhook(secret=""))
        self.assertEqual(forged.fault, "unknown_key", "anyone can sign with an empty secret")
        genuine = self.webhook()
        self.assertEqual(self.fault({**genuine, "body": b"{}"}), "wrong_signature")
        self.assertEqual(self.fault({**genuine, "url": "/hooks"}), "wrong_signature")
        self.assertEqual(self.fault({**genuine, "headers": {}}), "unknown_key")
        stamped = {**genuine["headers"], "X-Service-Timestamp": "yesterday"}
        self.assertEqual(self.fault({**genuine, "headers": stamped}), "timestamp_outside_window")
        self.assertEqual(self.fault(genuine), "verified", "a forgery consumes no nonce")
        other = {**EVENT, "type": "payout.failed"}
        self.assertEqual(self.fault(self.webhook(event=other)), "headers_contradict_body")
        self.assertEqual(self.fault(self.webhook(event="text")), "headers_contradict_body")

    def test_each_result_has_the_status_to_answer(self):
        def status(**given):
            return self.verifier.verify(**self.webhook(**given)).status

        nonce = "e" * 64
        self.assertEqual(status(nonce=nonce), 204)
        for given in ({"nonce": nonce}, {"minutes": 10}, {"key_id": "we_1_2"}, {"event": "text"}):
            self.assertEqual(status(**given), 503, given)
        self.assertEqual(status(secret="other"), 401)
        self.events.add("evt_1")
        self.assertEqual(status(), 204)

    def test_the_memory_of_events_keeps_the_newest(self):
        events = causeway.MemoryEventStore(2)
        for id in ("a", "b", "c"):
            events.add(id)
        self.assertEqual([events.has(id) for id in ("a", "b", "c")], [False, True, True])


if __name__ == "__main__":
    unittest.main()
