"""Decrypts a Web Push body with python3-cryptography, according to RFC 8291 and RFC 8188.

Reads JSON from standard input: private_key, auth and body, each in base64url. Writes the plaintext to standard output.
"""

import base64
import json
import sys

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF


def decode(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def derive(key: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    return HKDF(algorithm=hashes.SHA256(), length=length, salt=salt, info=info).derive(key)


def main() -> None:
    given = json.load(sys.stdin)
    private_key = ec.derive_private_key(int.from_bytes(decode(given["private_key"]), "big"), ec.SECP256R1())
    own_point = private_key.public_key().public_bytes(
        serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint
    )
    body = decode(given["body"])
    salt, record_size, key_length = body[:16], int.from_bytes(body[16:20], "big"), body[20]
    sender_point, record = body[21 : 21 + key_length], body[21 + key_length :]
    if len(record) > record_size:
        raise SystemExit("the content has more than one record")
    sender_key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), sender_point)
    shared = private_key.exchange(ec.ECDH(), sender_key)
    key = derive(shared, decode(given["auth"]), b"WebPush: info\x00" + own_point + sender_point, 32)
    content_key = derive(key, salt, b"Content-Encoding: aes128gcm\x00", 16)
    nonce = derive(key, salt, b"Content-Encoding: nonce\x00", 12)
    plaintext = AESGCM(content_key).decrypt(nonce, record, None).rstrip(b"\x00")
    if plaintext[-1:] != b"\x02":
        raise SystemExit("the record is not the last one")
    sys.stdout.buffer.write(plaintext[:-1])


main()
