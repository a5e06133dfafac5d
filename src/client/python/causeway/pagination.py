"""Lists as generators: items one by one or page by page, requested as they are read."""

from __future__ import annotations

from itertools import islice
from typing import Any, Callable, Dict, Generic, Iterator, Mapping, Optional, Tuple, TypeVar
from typing import List as _List
from urllib.parse import urlencode

Item = TypeVar("Item")
Page = Mapping[str, Any]
NextOf = Callable[[Page], Optional[Tuple[str, str]]]


class List(Generic[Item]):
    """Iterating gives the items. `pages()` gives whole answers; a page can be short or empty."""

    def __init__(
        self,
        get: Callable[[str], Any],
        path: str,
        parameters: Mapping[str, Any],
        next_of: NextOf,
    ) -> None:
        self._get = get
        self._path = path
        self._parameters = {name: value for name, value in parameters.items() if value is not None}
        self._next_of = next_of

    def pages(self) -> Iterator[Page]:
        parameters: Dict[str, Any] = dict(self._parameters)
        while True:
            query = urlencode(parameters)
            page = self._get(f"{self._path}?{query}" if query else self._path)
            yield page
            following = self._next_of(page)
            if following is None:
                return
            parameters[following[0]] = following[1]

    def take(self, count: int) -> _List[Item]:
        """The first items, at most `count`. Iterating reads all of them, page after page."""
        return list(islice(self, count))

    def __iter__(self) -> Iterator[Item]:
        for page in self.pages():
            yield from page["data"]


def next_cursor(page: Page) -> Optional[Tuple[str, str]]:
    return None if page["next_cursor"] is None else ("cursor", page["next_cursor"])


def next_number(page: Page) -> Optional[Tuple[str, str]]:
    return ("after", str(page["next_after"])) if page["has_more"] else None


def only_page(_page: Page) -> None:
    return None
