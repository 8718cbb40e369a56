"""Stand-in for a relay, in Django: one view that does only what every relay must do for a registration.

`python3 relay.py` creates the table, and `gunicorn relay:application` serves the view. Settings come from the
environment.
"""

import base64
import hashlib
import hmac
import json
import os
from urllib.parse import urlsplit

import django
from django.conf import settings
from nacl.public import PrivateKey, SealedBox

database = urlsplit(os.environ["PEER_DATABASE"])
settings.configure(
    ROOT_URLCONF=__name__,
    ALLOWED_HOSTS=["*"],
    USE_TZ=True,
    MIDDLEWARE=["django.middleware.common.CommonMiddleware"],
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    DATABASES={
        "default": {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": database.path[1:],
            "USER": database.username or "",
            "PASSWORD": database.password or "",
            "HOST": database.hostname or "",
            "PORT": database.port or "",
            "CONN_MAX_AGE": None,
        }
    },
)
django.setup()

from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.db import connection, models  # noqa: E402
from django.http import HttpResponse, JsonResponse  # noqa: E402
from django.urls import path  # noqa: E402

server_id = os.environ["PEER_SERVER_ID"]
server_key_hash = hashlib.sha256(os.environ["PEER_SERVER_KEY"].encode()).digest()
box = SealedBox(PrivateKey(base64.b64decode(os.environ["PEER_PRIVATE_KEY"])))


class Device(models.Model):
    realm_uuid = models.UUIDField()
    push_account_id = models.BigIntegerField()
    token_kind = models.CharField(max_length=4)
    token = models.CharField(max_length=4096)
    registered_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        app_label = "peer"
        unique_together = ("realm_uuid", "push_account_id", "token")


def register(request):
    scheme, _, credentials = request.headers.get("Authorization", "").partition(" ")
    name, _, key = base64.b64decode(credentials).decode().partition(":")
    key_hash = hashlib.sha256(key.encode()).digest()
    if scheme != "Basic" or name != server_id or not hmac.compare_digest(key_hash, server_key_hash):
        return JsonResponse({"result": "error", "msg": "Invalid credentials"}, status=401)
    form = request.POST
    registration = json.loads(box.decrypt(base64.b64decode(form["encrypted_push_registration"])))
    device = Device.objects.create(
        realm_uuid=form["realm_uuid"],
        push_account_id=int(form["push_account_id"]),
        token_kind=registration["token_kind"],
        token=registration["token"],
    )
    return JsonResponse({"result": "success", "msg": "", "device_id": device.id})


urlpatterns = [
    path("health/ready", lambda _request: HttpResponse("ready")),
    path("api/v1/remotes/push/e2ee/register", register),
]
application = get_wsgi_application()

if __name__ == "__main__":
    with connection.schema_editor() as editor:
        editor.create_model(Device)
