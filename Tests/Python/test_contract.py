"""The classes of the package are those of the contract, and tolerate what later versions add."""

import dataclasses
import inspect
import json
import unittest

import varlink
from support import PACKAGE

import photod
from photod import _records, change_details, changes, errors, images, messages, options, status

CONTRACT = {
    name: varlink.Interface((PACKAGE / f"Sources/PhotoContract/org.photod.{name}.varlink").read_text())
    for name in ["library", "images"]
}

# Types of the contract with another name here.
RENAMED = {
    "EditAsset": changes.EditAssets,
    "ImageRequest": images.ImageOptions,
}
# Types without a class: a request is one of several classes, and the results of pictures are read by `images`.
WITHOUT_CLASS = {"ChangeRequest", "Image", "Failure", "Result"}


def fields(struct):
    return {name: type(kind).__name__ == "_Maybe" for name, kind in struct.fields.items()}


class ContractTests(unittest.TestCase):
    def types(self):
        for interface in CONTRACT.values():
            for name, member in interface.members.items():
                if type(member).__name__ == "_Alias" and name not in WITHOUT_CLASS:
                    yield name, fields(member.type)

    def test_each_type_has_a_class_with_its_fields(self):
        count = 0
        for name, expected in self.types():
            kind = RENAMED.get(name) or getattr(photod, name, None)
            for module in [messages, status, changes, options, change_details]:
                kind = kind or getattr(module, name, None)
            self.assertIsNotNone(kind, name)
            have = {_records.contract_name(field.name) for field in dataclasses.fields(kind)}
            if name == "ImageRequest":
                have |= {"id", "assetID", "targetWidth", "targetHeight", "contentMode"}
            self.assertEqual(have, set(expected), name)
            count += 1
        self.assertGreater(count, 25)

    def test_fields_that_may_be_absent_have_a_default(self):
        for name, expected in self.types():
            kind = RENAMED.get(name) or getattr(photod, name, None) or getattr(messages, name, None)
            if kind is None or name == "ImageRequest":
                continue
            for field in dataclasses.fields(kind):
                has_default = field.default is not dataclasses.MISSING
                if expected[_records.contract_name(field.name)]:
                    self.assertTrue(has_default, f"{name}.{field.name}")

    def test_each_kind_of_change_has_a_class(self):
        kinds = {kind.member for kind in changes.ChangeRequest.__subclasses__()}
        self.assertEqual(kinds, set(CONTRACT["library"].members["ChangeRequest"].type.fields))

    def test_each_method_is_called_by_the_package(self):
        source = "".join(path.read_text() for path in (PACKAGE / "Sources/python/photod").glob("*.py"))
        for interface in CONTRACT.values():
            for name, member in interface.members.items():
                if type(member).__name__ == "_Method":
                    self.assertIn(f'"{name}"', source)

    def test_each_error_has_a_class(self):
        for interface in CONTRACT.values():
            for name, member in interface.members.items():
                if type(member).__name__ == "_Error":
                    error = errors.error_from_reply(f"{interface.name}.{name}", {"message": "One fails. Do another."})
                    self.assertIsNot(type(error), errors.PhotodError, name)
                    self.assertEqual(error.name, f"{interface.name}.{name}")
                    self.assertTrue(error.message and error.remedy)

    def test_unknown_errors_are_kept(self):
        error = errors.error_from_reply("org.photod.library.Eclipse", {"moon": 7})
        self.assertIs(type(error), photod.PhotodError)
        self.assertEqual((error.name, error.parameters), ("org.photod.library.Eclipse", {"moon": 7}))
        self.assertIn("Eclipse", str(error))

    def test_message_and_remedy_are_separate(self):
        error = errors.error_from_reply("org.photod.library.TimedOut", {"message": "it took long. Wait longer."})
        self.assertEqual((error.message, error.remedy), ("it took long", "Wait longer."))
        self.assertEqual(str(error), "it took long. Wait longer.")
        error = errors.error_from_reply("org.photod.library.UnknownSortKey", {"key": "size", "known": ["id", "title"]})
        self.assertEqual(str(error), "there is no sort key 'size'. The keys are id, title.")
        self.assertEqual(error.known, ("id", "title"))

    def test_names_agree_in_both_directions(self):
        for interface in CONTRACT.values():
            for _, member in interface.members.items():
                for name in getattr(getattr(member, "type", None), "fields", {}):
                    self.assertEqual(_records.contract_name(_records.python_name(name)), name)

    def test_every_public_symbol_is_documented(self):
        for name in photod.__all__:
            symbol = getattr(photod, name)
            if inspect.isclass(symbol) or inspect.isfunction(symbol):
                self.assertTrue((symbol.__doc__ or "").strip(), name)
                self.assertFalse((symbol.__doc__ or "").startswith(f"{name}("), name)


class ToleranceTests(unittest.TestCase):
    ASSET = {
        "id": 7, "mediaType": "hologram", "mediaSubtypes": ["wobbly"], "creationDate": "2024-07-21T10:00:00",
        "creationDateSource": "dream", "modificationDate": "2024-07-21T10:00:00Z",
        "addedDate": "2024-07-21T10:00:00Z", "keywords": [], "isFavorite": False, "isHidden": False,
        "isTrashed": False, "available": True, "revision": "a1", "smell": "roses",
        "location": {"latitude": 1, "longitude": 2.5, "planet": "Mars"},
        "resources": [{"kind": "scent", "path": "/a/b.jpg", "filename": "b.jpg", "byteCount": 3, "contentType": "x/y",
                       "age": 3}],
    }  # fmt: skip

    def test_unknown_words_are_kept_and_unknown_fields_ignored(self):
        asset = photod.Asset.from_message(json.loads(json.dumps(self.ASSET)))
        self.assertEqual((asset.media_type, asset.media_subtypes), ("hologram", ("wobbly",)))
        self.assertEqual(asset.location, photod.Location(1.0, 2.5))
        self.assertEqual((asset.path, asset.filename, asset.rating), ("/a/b.jpg", "b.jpg", None))
        self.assertIsNone(photod.parse_date(asset.creation_date).tzinfo)
        self.assertIsNotNone(photod.parse_date(asset.added_date).tzinfo)

    def test_missing_and_wrong_members_are_named(self):
        for change, text in [
            ({"id": None}, "Asset has no member id"),
            ({"id": "7"}, "Asset.id: '7' is not an integer"),
            ({"id": True}, "Asset.id: True is not an integer"),
            ({"keywords": "x"}, "Asset.keywords: 'x' is not an array"),
            ({"isHidden": 1}, "Asset.isHidden: 1 is not true or false"),
            ({"location": 3}, "Location is not an object"),
            ({"resources": [{}]}, "Resource has no member kind"),
        ]:
            with self.subTest(text), self.assertRaises(photod.MalformedReply) as caught:
                photod.Asset.from_message(self.ASSET | change)
            self.assertIn(text, caught.exception.message)

    def test_members_that_are_absent_are_left_out_of_requests(self):
        request = photod.EditAssets(range(2), title="", location=photod.Location(1, 2))
        self.assertEqual(
            request.to_request(),
            {"editAsset": {"ids": [0, 1], "title": "", "location": {"latitude": 1, "longitude": 2}}},
        )
        options = photod.FetchOptions(sort_descriptors=(photod.SortDescriptor("filename"),), include_hidden=True)
        self.assertEqual(
            options.to_message(),
            {"sortDescriptors": [{"key": "filename", "ascending": True}], "includeHidden": True},
        )
        self.assertEqual(photod.DeleteAlbum(4).to_request(), {"deleteAlbum": 4})


if __name__ == "__main__":
    unittest.main()
