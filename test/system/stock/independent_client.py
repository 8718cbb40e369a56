"""A client for encrypted push, written from docs/protocol.md with only PyNaCl and the standard library.

Signs in, registers, gets notifications from the vendors' stand-ins and opens them, rotates its key and its token, and
recovers from a refused registration. Prints one JSON line per step. Exits with status 1 and a sentence at the first
response that differs from the page.
"""

import argparse
import base64
import hashlib
import json
import secrets
import sys
import time

from independent_peers import Api, Events, Unexpected, Vendors, b64, require
from nacl.exceptions import CryptoError
from nacl.public import PrivateKey, PublicKey, SealedBox
from nacl.secret import SecretBox

class Phone:
    """A phone's token, and its encrypted registration."""

    def __init__(self, kind, bouncer_key):
        self.kind = kind
        self.bouncer_key = bouncer_key
        self.new_token()

    def new_token(self):
        random = secrets.token_hex(32)
        self.token = random.upper() if self.kind == "apns" else f"{random}:APA91b-_"

    def token_id(self):
        return b64(hashlib.sha256(self.token.encode()).digest()[:8])

    def sealed(self, bouncer_key=None):
        registration = {"token_kind": self.kind, "token": self.token, "timestamp": int(time.time())}
        if self.kind == "apns":
            registration["ios_app_id"] = "org.example.Independent"
        key = bouncer_key or self.bouncer_key
        box = SealedBox(PublicKey(base64.b64decode(key))).encrypt(json.dumps(registration).encode())
        return {
            "token_kind": self.kind,
            "bouncer_public_key": key,
            "encrypted_push_registration": b64(box),
        }


class Older:
    """The older generation: an account, and an X25519 key pair."""

    event_type = "push_device"
    key_field = "push_account_id"

    def __init__(self, api, phone):
        self.api, self.phone, self.events = api, phone, Events(api, self.event_type)
        require(self.events.state["push_devices"] == {}, "the user has a push device already")
        self.key_id = secrets.randbits(63)
        self.private_key = PrivateKey.generate()
        self.named = {"push_account_id": self.key_id}

    def register(self):
        self.send()
        self.wait_until("active")

    def rotate_key(self):
        self.private_key = PrivateKey.generate()
        self.register()

    def rotate_token(self):
        self.phone.new_token()
        self.register()

    def be_refused(self):
        """Registers with a key that the relay does not have, and returns the error code."""
        self.phone.new_token()
        self.send(b64(bytes(PrivateKey.generate().public_key)))
        return self.wait_until("failed")["error_code"]

    def send(self, bouncer_key=None):
        public_key = b64(bytes(self.private_key.public_key))
        sealed = self.phone.sealed(bouncer_key)
        self.api.post("mobile_push/register", push_account_id=self.key_id, push_public_key=public_key, **sealed)

    def wait_until(self, status):
        def matches(event):
            return int(event["push_account_id"]) == self.key_id and event["status"] == status

        return self.events.wait_for(f"push_device {status}", matches)

    def opener(self):
        return SealedBox(self.private_key).decrypt


class Newer:
    """The newer generation: a device of the server, and a secret key."""

    event_type = "device"
    key_field = "push_key_id"

    def __init__(self, api, phone):
        self.api, self.phone, self.events = api, phone, Events(api, self.event_type)
        require(self.events.state["devices"] == {}, "the user has a device already")
        self.device_id = api.post("register_client_device")["device_id"]
        self.named = {"device_id": self.device_id}
        self.wait_for(op="add")
        self.new_key()

    def new_key(self):
        self.key_id = secrets.randbits(32)
        self.key = b"\x31" + secrets.token_bytes(32)

    def register(self):
        self.send(**self.key_group(), **self.token_group())
        event = self.wait_for(op="update", pending_push_token_id=self.phone.token_id())
        require(event["push_key_id"] == self.key_id, f"another key: {event}")
        self.wait_for(op="update", push_token_id=self.phone.token_id(), pending_push_token_id=None)

    def rotate_key(self):
        self.new_key()
        self.send(**self.key_group())
        self.wait_for(op="update", push_key_id=self.key_id)

    def rotate_token(self):
        self.phone.new_token()
        self.send(**self.token_group())
        self.wait_for(op="update", push_token_id=self.phone.token_id(), pending_push_token_id=None)

    def be_refused(self):
        """Registers with a key that the relay does not have, and returns the error code."""
        self.phone.new_token()
        self.send(**self.token_group(b64(bytes(PrivateKey.generate().public_key))))
        code = "push_registration_error_code"
        matches = lambda event: event["op"] == "update" and event.get(code) is not None
        return self.events.wait_for("a failed registration", matches)[code]

    def key_group(self):
        return {"push_key_id": self.key_id, "push_key": b64(self.key)}

    def token_group(self, bouncer_key=None):
        return {"token_id": self.phone.token_id(), **self.phone.sealed(bouncer_key)}

    def send(self, **groups):
        self.api.post("mobile_push/register", device_id=self.device_id, **groups)

    def wait_for(self, **fields):
        wanted = {"device_id": self.device_id, **fields}
        matches = lambda event: all(name in event and event[name] == wanted[name] for name in wanted)
        return self.events.wait_for(f"device {wanted}", matches)

    def opener(self):
        return SecretBox(self.key[1:]).decrypt


class Journey:
    def __init__(self, options):
        self.api = Api(options.server, options.email, options.password)
        self.sender = Api(options.server, options.sender_email, options.sender_password)
        self.vendors = Vendors(options.vendors)
        self.realm_url = options.server
        self.phone = Phone(options.kind, options.bouncer_key)
        generation = Newer if options.generation == "newer" else Older
        self.client = generation(self.api, self.phone)

    def run(self):
        yield "registered", self.client.register()
        yield "notified", self.get_message()
        former_token, former = self.phone.token, self.client.opener()
        self.client.rotate_key()
        yield "rotated its key", self.get_message()
        self.require_foreign(former)
        self.client.rotate_token()
        before = len(self.vendors.deliveries(former_token))
        yield "rotated its token", self.get_message()
        require(len(self.vendors.deliveries(former_token)) == before, "the former token is still notified")
        self.api.post("mobile_push/e2ee/test_notification", **self.client.named)
        yield "tested", self.receive(lambda notification: notification["type"] == "test")["type"]
        yield "was refused", self.client.be_refused()
        self.phone.new_token()
        self.client.rotate_token()
        yield "recovered", self.get_message()

    def get_message(self):
        """Receives and decrypts the notification for a direct message, and then the one for its removal."""
        text = f"hello {secrets.token_hex(4)} \N{SNOWMAN}"
        to = json.dumps([self.api.user_id])
        message_id = self.sender.post("messages", type="direct", to=to, content=text)["id"]
        got = self.receive(lambda notification: notification.get("message_id") == message_id)
        require(got["content"] == text, f"another text: {got}")
        require((got["realm_url"], got["user_id"]) == (self.realm_url, self.api.user_id), f"not ours: {got}")
        require(got["sender_id"] == self.sender.user_id, f"another sender: {got}")
        self.api.post("messages/flags", messages=json.dumps([message_id]), op="add", flag="read")
        self.receive(lambda notification: message_id in notification.get("message_ids", []))
        return got["type"]

    def receive(self, matches):
        client = self.client
        key = (client.key_field, client.key_id, client.opener())
        return self.vendors.wait_for(self.phone.token, *key, matches)

    def require_foreign(self, former):
        """Requires that the former key cannot decrypt the last notification."""
        last = self.vendors.deliveries(self.phone.token)[-1]
        try:
            former(self.vendors.parts(last, self.client.key_field)[1])
        except CryptoError:
            return
        raise Unexpected("the former key still opens notifications")


def main():
    parser = argparse.ArgumentParser()
    for name in ("server", "vendors", "bouncer-key", "email", "password", "sender-email", "sender-password"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--generation", choices=("older", "newer"), required=True)
    parser.add_argument("--kind", choices=("fcm", "apns"), required=True)
    try:
        for step, result in Journey(parser.parse_args()).run():
            print(json.dumps({"step": step, "result": result}), flush=True)
    except Unexpected as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
