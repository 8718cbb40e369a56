/*
 * The steps that every native opener takes, on libsodium itself:
 *
 *   open_push PUSH_ACCOUNT_ID ENCRYPTED_DATA < ACCOUNTS
 *
 * ACCOUNTS is one account a line: its pushAccountId, publicKey and privateKey as exportForExtension gives them, with
 * spaces between. Prints the opened JSON, or "ignored: " and the reason. To build: cc open_push.c -lsodium
 */
#include <errno.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_encrypted_characters = 8192 };

struct account {
  int64_t id;
  unsigned char public_key[crypto_box_PUBLICKEYBYTES];
  unsigned char private_key[crypto_box_SECRETKEYBYTES];
};

static int ignore(const char *reason) {
  printf("ignored: %s\n", reason);
  return 0;
}

/* Decimal digits of a signed integer of 64 bits and nothing else: "1e3", " 1", "01" are no ids. */
static int parse_id(const char *text, int64_t *id) {
  const char *digits = text[0] == '-' ? text + 1 : text;
  size_t length = strspn(digits, "0123456789");
  if (length == 0 || digits[length] != '\0' || (digits[0] == '0' && length > 1)) return 0;
  errno = 0;
  *id = strtoimax(text, NULL, 10);
  return errno == 0;
}

/* Padded standard base64; servers may break it into lines, and nothing else. */
static int decode(const char *text, unsigned char *bytes, size_t most_bytes, size_t *length) {
  const char *end;
  size_t characters = strlen(text);
  return sodium_base642bin(bytes, most_bytes, text, characters, "\t\n\v\f\r ", length, &end,
                           sodium_base64_VARIANT_ORIGINAL) == 0 &&
         end == text + characters;
}

/* Step 2: the account whose id the push carries. */
static int find_account(FILE *accounts, int64_t wanted, struct account *account) {
  char line[512], id[32], public_key[64], private_key[64];
  int found = 0;
  while (!found && fgets(line, sizeof line, accounts) != NULL) {
    size_t length;
    if (sscanf(line, "%31s %63s %63s", id, public_key, private_key) != 3 || !parse_id(id, &account->id)) continue;
    found = account->id == wanted &&
            decode(public_key, account->public_key, sizeof account->public_key, &length) &&
            length == sizeof account->public_key &&
            decode(private_key, account->private_key, sizeof account->private_key, &length) &&
            length == sizeof account->private_key;
  }
  sodium_memzero(line, sizeof line);
  sodium_memzero(private_key, sizeof private_key);
  return found;
}

int main(int argc, char **argv) {
  static unsigned char sealed[most_encrypted_characters], plaintext[most_encrypted_characters];
  struct account account;
  int64_t id;
  size_t length;
  int opened;

  if (argc != 3 || sodium_init() < 0) return 2;

  /* Step 1: both fields are there and have the right form. */
  if (strlen(argv[2]) > most_encrypted_characters || !parse_id(argv[1], &id) ||
      !decode(argv[2], sealed, sizeof sealed, &length)) {
    return ignore("not-encrypted-push");
  }
  if (!find_account(stdin, id, &account)) return ignore("unknown-account");

  /* Step 3: the sealed box opens with the account's key pair, or it is ignored, whatever the reason. */
  opened = length >= crypto_box_SEALBYTES &&
           crypto_box_seal_open(plaintext, sealed, length, account.public_key, account.private_key) == 0;
  sodium_memzero(&account, sizeof account);
  if (!opened) return ignore("cannot-open");

  /* Step 4, with a parser of JSON: type, realm_url and user_id are those of the account. */
  fwrite(plaintext, 1, length - crypto_box_SEALBYTES, stdout);
  return 0;
}
