package waxwing.push

import java.net.URI
import java.net.URISyntaxException
import java.nio.ByteBuffer
import java.nio.charset.CharacterCodingException
import java.util.Base64
import org.json.JSONException
import org.json.JSONObject

sealed interface OpenedPush {
  /** [owner] is the organization's origin and the user's id. Unlike the push account id, it never changes. */
  data class Message(
    val owner: String,
    val messageId: Long,
    val time: Long,
    val sender: String,
    val content: String,
    val topic: String?,
  ) : OpenedPush

  data class Remove(val owner: String, val messageIds: List<Long>) : OpenedPush

  data class Payload(
    val owner: String,
    val id: String,
    val time: Long,
    val payload: JSONObject,
  ) : OpenedPush

  data object Test : OpenedPush

  data class Ignored(val reason: String) : OpenedPush
}

/** The libsodium functions that open boxes. Each returns null if the box cannot be opened. */
interface Boxes {
  fun openSealed(sealed: ByteArray, publicKey: ByteArray, privateKey: ByteArray): ByteArray?

  fun openSecret(box: ByteArray, nonce: ByteArray, key: ByteArray): ByteArray?
}

/**
 * Opens the data of an FCM message. Never throws because of what the data contains. [readAccounts] returns the output
 * of `exportForExtension` for every account.
 */
fun openPush(data: Map<String, String>, readAccounts: () -> List<String>, boxes: Boxes): OpenedPush {
  // Step 1: the box and one of the two ids must be present and well-formed.
  val box = data["encrypted_data"]?.filterNot { it in "\t\n\u000b\u000c\r " }?.let(::decodeBase64)
  val keyId = data["push_key_id"]?.takeIf { it.toUIntOrNull()?.toString() == it }
  val accountId = data["push_account_id"]?.takeIf { it.toLongOrNull()?.toString() == it }
  if (box == null || (keyId == null && accountId == null)) return OpenedPush.Ignored("not-encrypted-push")

  // Step 2: find the account whose key the push names.
  val accounts = readAccounts().mapNotNull(::parseObject).filter { it.opt("version") == 1 }
  val account =
    accounts.firstOrNull { if (keyId != null) pushKey(it, keyId) != null else it.optString("pushAccountId") == accountId }
      ?: return OpenedPush.Ignored("unknown-account")

  // Step 3: open the box with that key. If that fails for any reason, the push is ignored.
  val plaintext =
    (if (keyId != null) openSecret(box, pushKey(account, keyId), boxes) else openSealed(box, account, boxes))
      ?: return OpenedPush.Ignored("cannot-open")

  // Step 4: the content must be for this account and of a known type.
  val owner = "${account.optString("realmOrigin")} ${account.optString("userId")}"
  val notification = decodeUtf8(plaintext)?.let(::parseObject) ?: return OpenedPush.Ignored("unknown-type")
  val type = notification.opt("type")
  if (type !in setOf("message", "remove", "test", "payload")) return OpenedPush.Ignored("unknown-type")
  val isForAccount =
    webOrigin(notification.optString("realm_url")) == account.optString("realmOrigin") &&
      integer(notification.opt("user_id"))?.toString() == account.optString("userId")
  if (!isForAccount) return OpenedPush.Ignored("wrong-account")
  return when (type) {
    "test" -> OpenedPush.Test
    "remove" -> removal(owner, notification)
    "payload" -> payload(owner, notification)
    else -> message(owner, notification)
  } ?: OpenedPush.Ignored("unknown-type")
}

private fun openSealed(sealed: ByteArray, account: JSONObject, boxes: Boxes): ByteArray? {
  val publicKey = decodeBase64(account.optString("publicKey"))
  val privateKey = decodeBase64(account.optString("privateKey"))
  if (publicKey?.size != KEY_BYTES || privateKey?.size != KEY_BYTES) return null
  return boxes.openSealed(sealed, publicKey, privateKey)
}

/** Decrypts a secret box that is preceded by its nonce. */
private fun openSecret(bytes: ByteArray, key: ByteArray?, boxes: Boxes): ByteArray? {
  if (bytes.size < NONCE_BYTES || key?.size != KEY_BYTES) return null
  return boxes.openSecret(bytes.drop(NONCE_BYTES).toByteArray(), bytes.take(NONCE_BYTES).toByteArray(), key)
}

private fun pushKey(account: JSONObject, pushKeyId: String): ByteArray? {
  // `pushKeys` is absent from accounts that an older version of the app stored.
  val keys = account.optJSONArray("pushKeys") ?: return null
  val found = (0 until keys.length()).mapNotNull(keys::optJSONObject).find { it.optString("pushKeyId") == pushKeyId }
  return found?.let { decodeBase64(it.optString("key")) }
}

private const val KEY_BYTES = 32
private const val NONCE_BYTES = 24

private fun message(owner: String, notification: JSONObject): OpenedPush? {
  val messageId = integer(notification.opt("message_id")) ?: return null
  val time = integer(notification.opt("time")) ?: return null
  val sender = notification.opt("sender_full_name") as? String ?: return null
  val content = notification.opt("content") as? String ?: return null
  val topic = notification.opt("topic") as? String
  return OpenedPush.Message(owner, messageId, time, sender, content, topic)
}

private fun removal(owner: String, notification: JSONObject): OpenedPush? {
  val ids = notification.optJSONArray("message_ids") ?: return null
  val messageIds = (0 until ids.length()).map { integer(ids.opt(it)) ?: return null }
  return OpenedPush.Remove(owner, messageIds)
}

private val PAYLOAD_ID = Regex("[A-Za-z0-9_-]{1,64}")

private fun payload(owner: String, notification: JSONObject): OpenedPush? {
  val id = (notification.opt("id") as? String)?.takeIf(PAYLOAD_ID::matches) ?: return null
  val time = integer(notification.opt("time")) ?: return null
  val payload = notification.optJSONObject("payload") ?: return null
  return OpenedPush.Payload(owner, id, time, payload)
}

private fun integer(value: Any?): Long? =
  when (value) {
    is Int -> value.toLong()
    is Long -> value
    else -> null
  }

private fun parseObject(text: String): JSONObject? =
  try {
    JSONObject(text)
  } catch (_: JSONException) {
    null
  }

private fun decodeUtf8(bytes: ByteArray): String? =
  try {
    Charsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString()
  } catch (_: CharacterCodingException) {
    null
  }

/**
 * Decodes padded standard base64, and returns null for any other text. Re-encoding the result detects stray bits and
 * missing padding.
 */
private fun decodeBase64(text: String): ByteArray? =
  try {
    Base64.getDecoder().decode(text).takeIf { Base64.getEncoder().encodeToString(it) == text }
  } catch (_: IllegalArgumentException) {
    null
  }

/**
 * Returns a URL's origin in lowercase: the scheme, the host, and the port if it is not the default. Returns null unless
 * the URL is a valid http or https URL without a user name.
 */
fun webOrigin(url: String): String? {
  val uri =
    try {
      URI(url)
    } catch (_: URISyntaxException) {
      return null
    }
  val scheme = uri.scheme?.lowercase()
  val host = uri.host?.lowercase()
  if (host == null || uri.userInfo != null || (scheme != "https" && scheme != "http")) return null
  val defaultPort = if (scheme == "https") 443 else 80
  return if (uri.port == -1 || uri.port == defaultPort) "$scheme://$host" else "$scheme://$host:${uri.port}"
}
