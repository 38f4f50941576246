"""Requests a picture of an asset in a session, and prints a line for each result: show.py SOCKET ASSET SIDE"""
import json, socket, sys

path, asset, side = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])

class Connection:
    def __init__(self):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(30)
        self.socket.connect(path)
        self.received = b""

    def send(self, method, more=False, **parameters):
        call = {"method": f"org.photod.images.{method}", "parameters": parameters, "more": more}
        self.socket.sendall(json.dumps(call).encode() + b"\0")

    def reply(self):
        while b"\0" not in self.received:
            piece = self.socket.recv(1 << 16)
            if not piece:
                sys.exit("photod closed the connection")
            self.received += piece
        message, _, self.received = self.received.partition(b"\0")
        reply = json.loads(message)
        if "error" in reply:
            sys.exit(reply)
        return reply["parameters"]

stream, calls = Connection(), Connection()
stream.send("OpenSession", more=True)
session = stream.reply()["session"]
request = {"id": 1, "assetID": asset, "targetWidth": side, "targetHeight": side, "resizeMode": "exact"}
calls.send("RequestImages", session=session, requests=[request])
calls.reply()
is_final = False
while not is_final:
    for result in stream.reply()["results"]:
        is_final = result["isFinal"]
        image = result.get("image") or sys.exit(result)
        longer = max(image["width"], image["height"])
        size = f"{longer} pixels" if is_final else "smaller" if longer <= side else "larger"
        print("final" if is_final else "degraded", f"{image['contentType']}, {size}")
