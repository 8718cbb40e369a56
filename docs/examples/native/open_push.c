/*
 * The steps that every native opener takes, on libsodium itself:
 *
 *   open_push push_key_id ID ENCRYPTED_DATA < KEYS
 *   open_push push_account_id ID ENCRYPTED_DATA < KEYS
 *
 * KEYS has the output of exportForExtension, one key per line: "push_key_id", pushKeyId and key; or "push_account_id",
 * pushAccountId, publicKey and privateKey, separated by spaces. Prints the opened JSON, or "ignored: " and the reason.
 * To build: cc open_push.c -lsodium
 */
#include <errno.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_encrypted_characters = 8192 };

/* A push key is only secret; an account's key pair also has a public half. */
struct key {
  unsigned char public_half[crypto_box_PUBLICKEYBYTES];
  unsigned char secret[crypto_box_SECRETKEYBYTES];
};

static int ignore(const char *reason) {
  printf("ignored: %s\n", reason);
  return 0;
}

/* Accepts only the decimal digits of an integer in this range: "1e3", " 1" and "01" are not ids. */
static int is_id(const char *text, int64_t least, int64_t most) {
  const char *digits = text[0] == '-' ? text + 1 : text;
  size_t length = strspn(digits, "0123456789");
  intmax_t id;
  if (length == 0 || digits[length] != '\0' || (digits[0] == '0' && (length > 1 || digits != text))) return 0;
  errno = 0;
  id = strtoimax(text, NULL, 10);
  return errno == 0 && id >= least && id <= most;
}

/* Accepts only padded standard base64, which servers may break into lines. */
static int decode(const char *text, unsigned char *bytes, size_t most_bytes, size_t *length) {
  const char *end;
  size_t characters = strlen(text);
  return sodium_base642bin(bytes, most_bytes, text, characters, "\t\n\v\f\r ", length, &end,
                           sodium_base64_VARIANT_ORIGINAL) == 0 &&
         end == text + characters;
}

static int decode_key(const char *text, unsigned char key[32]) {
  size_t length;
  return decode(text, key, 32, &length) && length == 32;
}

/* Step 2: the key that the push names. */
static int find_key(FILE *keys, const char *field, const char *wanted, struct key *key) {
  char line[512], name[32], id[32], first[64], second[64];
  int is_push_key = strcmp(field, "push_key_id") == 0, found = 0;
  while (!found && fgets(line, sizeof line, keys) != NULL) {
    int words = sscanf(line, "%31s %31s %63s %63s", name, id, first, second);
    if (words < 3 || strcmp(name, field) != 0 || strcmp(id, wanted) != 0) continue;
    found = is_push_key ? decode_key(first, key->secret)
                        : words == 4 && decode_key(first, key->public_half) && decode_key(second, key->secret);
  }
  sodium_memzero(line, sizeof line);
  sodium_memzero(first, sizeof first);
  sodium_memzero(second, sizeof second);
  return found;
}

/* Step 3: a secret box after its nonce, or a sealed box for the account's key pair. Returns -1 if it does not open. */
static long open_box(int is_push_key, const unsigned char *box, size_t length, const struct key *key,
                     unsigned char *plaintext) {
  const size_t nonce = crypto_secretbox_NONCEBYTES;
  if (is_push_key) {
    if (length < nonce + crypto_secretbox_MACBYTES) return -1;
    if (crypto_secretbox_open_easy(plaintext, box + nonce, length - nonce, box, key->secret) != 0) return -1;
    return (long)(length - nonce - crypto_secretbox_MACBYTES);
  }
  if (length < crypto_box_SEALBYTES) return -1;
  if (crypto_box_seal_open(plaintext, box, length, key->public_half, key->secret) != 0) return -1;
  return (long)(length - crypto_box_SEALBYTES);
}

int main(int argc, char **argv) {
  static unsigned char box[most_encrypted_characters], plaintext[most_encrypted_characters];
  struct key key;
  size_t length;
  long opened;
  int is_push_key;

  if (argc != 4 || sodium_init() < 0) return 2;
  is_push_key = strcmp(argv[1], "push_key_id") == 0;

  /* Step 1: both fields are present and well-formed. */
  if (strlen(argv[3]) > most_encrypted_characters || !decode(argv[3], box, sizeof box, &length) ||
      !(is_push_key ? is_id(argv[2], 0, UINT32_MAX) : is_id(argv[2], INT64_MIN, INT64_MAX))) {
    return ignore("not-encrypted-push");
  }
  if (!find_key(stdin, argv[1], argv[2], &key)) return ignore("unknown-account");

  opened = open_box(is_push_key, box, length, &key, plaintext);
  sodium_memzero(&key, sizeof key);
  if (opened < 0) return ignore("cannot-open");

  /* Step 4 needs a JSON parser: the type is known, and realm_url and user_id match the account. */
  fwrite(plaintext, 1, (size_t)opened, stdout);
  return 0;
}
