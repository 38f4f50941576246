"""Keeps the decoders of a photod busy until it is killed: decode.py SOCKET ASSET..."""

import sys

from client import Connection

IMAGES = "org.photod.images."


def main():
    path, *assets = sys.argv[1:]
    connection = Connection(path)
    side = 900
    while True:
        # No picture of such a size is kept.
        side += 1
        connection.send("MakeImages", more=True, interface=IMAGES, requests=[
            {"id": index, "assetID": int(asset), "targetWidth": side, "targetHeight": side, "resizeMode": "exact"}
            for index, asset in enumerate(assets, 1)])
        wanted = len(assets)
        while wanted:
            results = connection.parameters(connection.reply_bytes())["results"]
            if any(result.get("failure") for result in results):
                raise RuntimeError(f"no picture: {results}")
            wanted -= len(results)
        if side == 901:
            print("busy", flush=True)


main()
