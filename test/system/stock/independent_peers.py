"""The peers of independent_client.py: the chat API as one user, its events, and the vendors' stand-ins."""

import base64
import json
import time
import urllib.error
import urllib.parse
import urllib.request

DEADLINE_SECONDS = 60


class Unexpected(Exception):
    """A peer did not behave as the page specifies."""


def require(holds, sentence):
    if not holds:
        raise Unexpected(sentence)


def b64(data):
    return base64.b64encode(data).decode("ascii")


class Api:
    """A client of the chat API, as one user."""

    def __init__(self, url, email, password):
        self.url = url
        self.authorization = None
        answer = self.post("fetch_api_key", username=email, password=password)
        self.user_id = answer["user_id"]
        self.authorization = "Basic " + b64(f"{email}:{answer['api_key']}".encode())

    def post(self, path, **fields):
        return self.ask("POST", path, fields)

    def get(self, path, **fields):
        return self.ask("GET", path, fields)

    def ask(self, method, path, fields, refused=False):
        form = urllib.parse.urlencode({name: value for name, value in fields.items() if value is not None})
        url = f"{self.url}/api/v1/{path}" + (f"?{form}" if method == "GET" else "")
        request = urllib.request.Request(url, method=method, data=None if method == "GET" else form.encode())
        if self.authorization is not None:
            request.add_header("Authorization", self.authorization)
        try:
            with urllib.request.urlopen(request, timeout=DEADLINE_SECONDS) as response:
                answer = json.load(response)
        except urllib.error.HTTPError as error:
            answer = json.load(error)
        require(answer["result"] == ("error" if refused else "success"), f"{method} {path} responds with {answer}")
        return answer


class Events:
    """An event queue of the user, read by long polling."""

    def __init__(self, api, event_type):
        self.api = api
        types = json.dumps([event_type])
        self.state = api.post("register", event_types=types, fetch_event_types=types)
        self.queue_id = self.state["queue_id"]
        self.last_event_id = self.state["last_event_id"]

    def wait_for(self, what, matches):
        """Returns the next event that matches, and skips events before it."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        while time.monotonic() < deadline:
            answer = self.api.get("events", queue_id=self.queue_id, last_event_id=self.last_event_id)
            for event in answer["events"]:
                self.last_event_id = event["id"]
                if matches(event):
                    return event
        raise Unexpected(f"no event: {what}")


class Vendors:
    """The deliveries to a token at FCM or APNs, each returned only once."""

    def __init__(self, url):
        self.url = url
        self.handled = {}

    def wait_for(self, token, key_field, key_id, open_box, matches):
        """Returns the next notification to the token that matches. Requires that it is encrypted for the key."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        while time.monotonic() < deadline:
            deliveries = self.deliveries(token)
            for index in range(self.handled.get(token, 0), len(deliveries)):
                self.handled[token] = index + 1
                named, encrypted = self.parts(deliveries[index], key_field)
                require(named == key_id, f"a notification for key {named} instead of {key_id}")
                notification = json.loads(open_box(encrypted))
                if matches(notification):
                    return notification
            time.sleep(0.05)
        raise Unexpected(f"no notification arrives at {token}")

    def parts(self, delivery, key_field):
        """Returns the key id and the ciphertext. Requires that every value in FCM data is a string."""
        data = delivery["body"]
        if delivery["vendor"] == "fcm":
            data = data["message"]["data"]
            require(all(isinstance(value, str) for value in data.values()), f"not a string in FCM data: {data}")
        else:
            require(isinstance(data[key_field], int) and "aps" in data, f"unexpected APNs body: {data}")
        return int(data[key_field]), base64.b64decode(data["encrypted_data"], validate=True)

    def deliveries(self, token):
        query = urllib.parse.urlencode({"token": token})
        with urllib.request.urlopen(f"{self.url}/deliveries?{query}", timeout=DEADLINE_SECONDS) as response:
            return json.load(response)["deliveries"]
