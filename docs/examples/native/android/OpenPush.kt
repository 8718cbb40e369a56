package com.example.push

import java.net.URI
import java.net.URISyntaxException
import java.nio.ByteBuffer
import java.nio.charset.CharacterCodingException
import java.util.Base64
import org.json.JSONException
import org.json.JSONObject

sealed interface OpenedPush {
  data class Message(
    val pushAccountId: String,
    val messageId: Long,
    val time: Long,
    val sender: String,
    val content: String,
    val topic: String?,
  ) : OpenedPush

  data class Remove(val pushAccountId: String, val messageIds: List<Long>) : OpenedPush

  data object Test : OpenedPush

  data class Ignored(val reason: String) : OpenedPush
}

/** The plaintext of a sealed box for a public and private key; null when it does not open. */
typealias OpenSealed = (sealed: ByteArray, publicKey: ByteArray, privateKey: ByteArray) -> ByteArray?

/**
 * Opens the data of an FCM message; whatever was received, it does not throw.
 * [findAccount] gives the text of `exportForExtension` for a push account id, in decimal digits.
 */
fun openPush(data: Map<String, String>, findAccount: (String) -> String?, openSealed: OpenSealed): OpenedPush {
  // Step 1: both fields are there and have the right form.
  val id = data["push_account_id"]
  if (id == null || id.toLongOrNull()?.toString() != id) return OpenedPush.Ignored("not-encrypted-push")
  val sealed = data["encrypted_data"]?.filterNot { it in "\t\n\u000b\u000c\r " }?.let(::decodeBase64)
  if (sealed == null) return OpenedPush.Ignored("not-encrypted-push")

  // Step 2: the account whose id the push carries.
  val account = findAccount(id)?.let(::parseObject)
  if (account == null || account.opt("version") != 1 || account.optString("pushAccountId") != id) {
    return OpenedPush.Ignored("unknown-account")
  }
  val publicKey = decodeBase64(account.optString("publicKey"))
  val privateKey = decodeBase64(account.optString("privateKey"))
  if (publicKey?.size != 32 || privateKey?.size != 32) return OpenedPush.Ignored("unknown-account")

  // Step 3: the sealed box opens with the account's key pair, or it is ignored, whatever the reason.
  val plaintext = openSealed(sealed, publicKey, privateKey) ?: return OpenedPush.Ignored("cannot-open")

  // Step 4: what is in the box is for this very account, and of a type that is known.
  val notification = decodeUtf8(plaintext)?.let(::parseObject) ?: return OpenedPush.Ignored("unknown-type")
  val type = notification.opt("type")
  if (type !in setOf("message", "remove", "test")) return OpenedPush.Ignored("unknown-type")
  val isForAccount =
    webOrigin(notification.optString("realm_url")) == account.optString("realmOrigin") &&
      integer(notification.opt("user_id"))?.toString() == account.optString("userId")
  if (!isForAccount) return OpenedPush.Ignored("wrong-account")
  return when (type) {
    "test" -> OpenedPush.Test
    "remove" -> removal(id, notification)
    else -> message(id, notification)
  } ?: OpenedPush.Ignored("unknown-type")
}

private fun message(pushAccountId: String, notification: JSONObject): OpenedPush? {
  val messageId = integer(notification.opt("message_id")) ?: return null
  val time = integer(notification.opt("time")) ?: return null
  val sender = notification.opt("sender_full_name") as? String ?: return null
  val content = notification.opt("content") as? String ?: return null
  val topic = notification.opt("topic") as? String
  return OpenedPush.Message(pushAccountId, messageId, time, sender, content, topic)
}

private fun removal(pushAccountId: String, notification: JSONObject): OpenedPush? {
  val ids = notification.optJSONArray("message_ids") ?: return null
  val messageIds = (0 until ids.length()).map { integer(ids.opt(it)) ?: return null }
  return OpenedPush.Remove(pushAccountId, messageIds)
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

/** Padded standard base64 and nothing else; encoding it again tells stray bits and missing padding. */
private fun decodeBase64(text: String): ByteArray? =
  try {
    Base64.getDecoder().decode(text).takeIf { Base64.getEncoder().encodeToString(it) == text }
  } catch (_: IllegalArgumentException) {
    null
  }

/** Scheme, host and port unless it is the scheme's default, in lower case; null for a URL with a user name. */
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
