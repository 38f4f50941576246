"""Dataclasses that are read from, and written to, the JSON messages of photod.

The name of a field is that of the contract in snake case: `keyAssetID` is `key_asset_id`. Fields that this version does
not know are ignored, and words of an enum that it does not know are kept, because the contract says that both may grow.
"""

from __future__ import annotations

import dataclasses
import functools
import re
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

from .errors import MalformedReply


def contract_name(name: str) -> str:
    """Returns the name of a field in the contract."""
    first, *words = name.split("_")
    return first + "".join({"id": "ID", "ids": "IDs"}.get(word, word.capitalize()) for word in words)


def python_name(name: str) -> str:
    """Returns the name of a contract's field in Python."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})", "_", name).lower()


class Record:
    """The base class of all messages."""

    __slots__ = ()

    @classmethod
    def from_message(cls, message: Any) -> Self:
        """Reads a message, and ignores members that this version does not know.

        Raises MalformedReply if a member is missing or has another type.
        """
        if not isinstance(message, Mapping):
            raise MalformedReply(f"{cls.__name__} is not an object, but {message!r:.60}")
        values: dict[str, Any] = {}
        for name, key, read, is_optional in _fields(cls):
            value = message.get(key)
            if value is not None:
                try:
                    values[name] = read(value)
                except (TypeError, ValueError) as error:
                    raise MalformedReply(f"{cls.__name__}.{key}: {error}") from None
            elif not is_optional:
                raise MalformedReply(f"{cls.__name__} has no member {key}")
        return cls(**values)

    def to_message(self) -> dict[str, Any]:
        """Returns the message. Members that are None are left out."""
        return {
            key: _written(value)
            for name, key, _, _ in _fields(type(self))
            if (value := getattr(self, name)) is not None
        }


def _written(value: Any) -> Any:
    if isinstance(value, Record):
        return value.to_message()
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_written(element) for element in value]
    return value


_Fields = tuple[tuple[str, str, Callable[[Any], Any], bool], ...]
_known_fields: dict[type, _Fields] = {}


def _fields(cls: type[Any]) -> _Fields:
    """The fields of a class: their names here and in the contract, their readers, and whether each may be absent."""
    known = _known_fields.get(cls)
    if known is None:
        known = _known_fields[cls] = _find_fields(cls)
    return known


def _find_fields(cls: type[Any]) -> _Fields:
    hints = typing.get_type_hints(cls)
    fields = []
    for field in dataclasses.fields(cls):
        read, is_optional = _reader(hints[field.name])
        has_default = field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING
        fields.append((field.name, contract_name(field.name), read, is_optional or has_default))
    return tuple(fields)


def _reader(hint: Any) -> tuple[Callable[[Any], Any], bool]:
    """Returns the function that checks and converts a value, and whether the value may be absent."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        (kind,) = (argument for argument in arguments if argument is not types.NoneType)
        return _reader(kind)[0], True
    if origin in (tuple, Sequence):
        return functools.partial(_read_tuple, _reader(arguments[0])[0]), False
    if origin is dict:
        return functools.partial(_read_dictionary, _reader(arguments[1])[0]), False
    if origin is typing.Literal:
        return _read_text, False
    if isinstance(hint, type) and issubclass(hint, Record):
        return hint.from_message, False
    return {int: _read_integer, float: _read_number, str: _read_text, bool: _read_bool}[hint], False


def _read_integer(value: Any) -> int:
    if type(value) is int:
        return value
    raise TypeError(f"{value!r:.60} is not an integer")


def _read_number(value: Any) -> float:
    if type(value) is float or type(value) is int:
        return float(value)
    raise TypeError(f"{value!r:.60} is not a number")


def _read_text(value: Any) -> str:
    if type(value) is str:
        return value
    raise TypeError(f"{value!r:.60} is not a text")


def _read_bool(value: Any) -> bool:
    if type(value) is bool:
        return value
    raise TypeError(f"{value!r:.60} is not true or false")


def _read_tuple(read: Callable[[Any], Any], value: Any) -> tuple[Any, ...]:
    if type(value) is not list:
        raise TypeError(f"{value!r:.60} is not an array")
    return tuple(map(read, value))


def _read_dictionary(read: Callable[[Any], Any], value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise TypeError(f"{value!r:.60} is not an object")
    return {key: read(element) for key, element in value.items()}
