"""Calls photod with the package `varlink` from PyPI, which knows the interfaces only from the descriptions of the daemon.

  varlink_client.py SOCKET PHOTO NEW-PATH

PHOTO is copied to NEW-PATH, inside a watched folder, while the library is observed. Every step prints one line for
ThirdPartyClientTests.swift to compare; what differs from run to run (ids, tokens, digests) is checked here.
"""

import os
import shutil
import sys

import varlink

INTERFACE = "org.photod.library"


def digest(ids):
    """As the contract defines it at `digest`."""
    value = 0
    for number in ids:
        value = (value * 1099511628211 + number) % (2**61 - 1)
    return f"{value:016x}"


def ids_before(replies):
    """The pages of ids at the start of an observation: the whole list, and its last page."""
    ids = []
    for reply in replies:
        page = reply["observation"]
        assert page["offset"] == len(ids), page
        ids += page["ids"]
        if page.get("complete"):
            assert (page["count"], page["digest"]) == (len(ids), digest(ids)), page
            return ids, page
    raise AssertionError("the stream ended before the list was complete")


def applied(ids, details):
    """The list after `details`: take out, then put in, each at its index in its own list."""
    assert details["countBefore"] == len(ids), details
    assert not details["moves"], details
    removed = {start + i for start, count in ranges(details["removedBefore"]) for i in range(count)}
    after = [number for index, number in enumerate(ids) if index not in removed]
    inserted = iter(details["insertedIDs"])
    for start, count in ranges(details["insertedAfter"]):
        after[start:start] = [next(inserted) for _ in range(count)]
    assert details["countAfter"] == len(after), details
    return after


def ranges(values):
    return [(value["start"], value["count"]) for value in values]


def show_error(name, call):
    try:
        call()
        print(f"{name}: no error")
    except varlink.VarlinkError as error:
        print(f"{name}: {error.error()} {error.parameters()}")


def main(socket, photo, new_path):
    client = varlink.Client("unix:" + socket)
    print("interfaces:", *sorted(client.get_interfaces()))
    print("vendor, product:", client.info["vendor"], client.info["product"])
    members = client.get_interface(INTERFACE).members
    print("members:", *(name for name in ["Asset", "Fetch", "Observe", "UnknownSortKey"] if name in members))
    members = client.get_interface("org.photod.manage").members
    print("managing:", *(name for name in ["Client", "Clients", "Event", "Events"] if name in members))

    with client.open(INTERFACE) as library:
        library.Synchronize()
        options = {"sortDescriptors": [{"key": "filename", "ascending": True}]}
        page = library.Fetch(options, 1, 2)
        print("one page:", page["total"], page["offset"], *names(page["assets"]))
        pages = list(library.Fetch(options, _more=True))
        print("all pages:", *(name for page in pages for name in names(page["assets"])))

    with client.open(INTERFACE) as library, client.open(INTERFACE) as other:
        replies = library.Observe(_more=True)
        ids, last = ids_before(replies)
        print("observed:", len(ids))
        # Renamed into its place, so that there is one event.
        shutil.copyfile(photo, new_path + ".part")
        os.rename(new_path + ".part", new_path)
        observation = next(replies)["observation"]
        details = observation["details"]
        assert observation["previousToken"] == last["token"], observation
        after = applied(ids, details)
        assert (observation["count"], observation["digest"]) == (len(after), digest(after)), observation
        inserted = other.GetAssets(details["insertedIDs"])
        assert inserted["missing"] == [], inserted
        print("details:", details["countBefore"], details["countAfter"], observation["origin"], *names(inserted["assets"]))

    with client.open(INTERFACE) as library:
        unknown = {"sortDescriptors": [{"key": "shoeSize", "ascending": True}]}
        try:
            library.Fetch(unknown)
        except varlink.VarlinkError as error:
            print("unknown sort key:", error.error(), error.parameters()["key"], "id" in error.parameters()["known"])
        show_error("bad token", lambda: library.FetchPersistentChanges(since="nonsense"))
        show_error("missing parameter", lambda: library.GetAssets())
        show_error("not there yet", lambda: library.PerformChanges([{"trashAssets": [1]}]))
        show_error("stream without more", lambda: library.Observe())
        # The package refuses a method that is not in the description; so this call is put in by hand.
        library._send_message(b'{"method": "org.photod.library.Develop"}')
        show_error("no such method", library._next_varlink_message)
        print("still there:", library.Status()["status"]["state"])
    with client.open("org.photod.manage") as manage:
        clients = manage.Clients()["clients"]
        own = [entry for entry in clients if entry["isSelf"]]
        print("clients:", len(own), own[0]["pid"] == os.getpid(), own[0]["method"])
        events = manage.Events()
        print("events:", events["missed"], [event["kind"] for event in events["events"]][-2:])
    with client.open("org.photod.images") as images, client.open(INTERFACE) as library:
        ids = [asset["id"] for asset in library.Fetch(options)["assets"]]
        frame = {"targetWidth": 64, "targetHeight": 64}
        requests = [{"id": 9 - number, "assetID": asset, **frame} for number, asset in enumerate(ids)]
        requests.append({"id": 20, "assetID": 999999, **frame})
        results = [result for reply in images.MakeImages(requests, _more=True) for result in reply["results"]]
        finals = {result["requestID"]: result for result in results if result["isFinal"]}
        print("pictures:", len(results), sorted(finals) == sorted(request["id"] for request in requests))
        print("no such asset:", finals[20]["failure"]["kind"])
        kinds = {picture_kind(result) for number, result in finals.items() if number != 20}
        print("kinds:", *sorted(kinds))
    show_error("no such interface", lambda: client.get_interface("org.nobody"))


def picture_kind(result):
    """The content type of a picture of the right size, or the kind of its failure."""
    if "failure" in result:
        return result["failure"]["kind"]
    image = result["image"]
    with open(image["path"], "rb") as file:
        assert len(file.read()) == image["byteCount"], image
    assert max(image["width"], image["height"]) <= 128, image
    return image["contentType"]


def names(assets):
    return [asset["resources"][0]["filename"] for asset in assets]


if __name__ == "__main__":
    main(*sys.argv[1:])
