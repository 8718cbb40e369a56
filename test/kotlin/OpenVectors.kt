package waxwing.push

import com.sun.jna.Library
import com.sun.jna.Native
import java.io.File
import kotlin.system.exitProcess
import org.json.JSONArray
import org.json.JSONObject

/** Debian's libsodium, which replaces the library in lazysodium-android. */
private interface Sodium : Library {
  fun sodium_init(): Int

  fun crypto_box_seal_open(m: ByteArray, c: ByteArray, length: Long, publicKey: ByteArray, privateKey: ByteArray): Int

  fun crypto_secretbox_open_easy(m: ByteArray, c: ByteArray, length: Long, nonce: ByteArray, key: ByteArray): Int
}

private val sodium = Native.load("sodium", Sodium::class.java).also { check(it.sodium_init() >= 0) }

private object SodiumBoxes : Boxes {
  override fun openSealed(sealed: ByteArray, publicKey: ByteArray, privateKey: ByteArray): ByteArray? {
    if (sealed.size < 48) return null
    val plaintext = ByteArray(sealed.size - 48)
    val status = sodium.crypto_box_seal_open(plaintext, sealed, sealed.size.toLong(), publicKey, privateKey)
    return plaintext.takeIf { status == 0 }
  }

  override fun openSecret(box: ByteArray, nonce: ByteArray, key: ByteArray): ByteArray? {
    if (box.size < 16) return null
    val plaintext = ByteArray(box.size - 16)
    val status = sodium.crypto_secretbox_open_easy(plaintext, box, box.size.toLong(), nonce, key)
    return plaintext.takeIf { status == 0 }
  }
}

private fun objects(array: JSONArray) = (0 until array.length()).map(array::getJSONObject)

private fun wrongPushes(vectors: JSONObject): List<String> {
  val texts = vectors.getJSONArray("accounts").let { (0 until it.length()).map(it::getString) }
  return objects(vectors.getJSONArray("pushes")).mapNotNull { vector ->
    val push = vector.getJSONObject("push")
    val data = push.keys().asSequence().associateWith(push::getString)
    val expected = vector.getJSONObject("expect")
    val found =
      when (val opened = openPush(data, { texts }, SodiumBoxes)) {
        is OpenedPush.Message -> "message"
        is OpenedPush.Remove -> "remove"
        is OpenedPush.Payload -> "payload"
        is OpenedPush.Test -> "test"
        is OpenedPush.Ignored -> opened.reason
      }
    val wanted = if (expected.has("type")) expected.getString("type") else expected.getString("ignored")
    if (found == wanted) null else "${vector.getString("name")}: $found instead of $wanted"
  }
}

private fun wrongMessages(seen: JSONObject): List<String> {
  val ofAccount = mutableMapOf<String, SeenMessages>()
  return objects(seen.getJSONArray("messages")).mapNotNull { vector ->
    val account = vector.getString("pushAccountId")
    val known = ofAccount[account] ?: SeenMessages.none
    val message = SeenMessages.SeenMessage(vector.getLong("time"), vector.getString("messageId"))
    val next = known.with(message, seen.getInt("capacity"))
    // Encodes and decodes each state, as the service does.
    if (next != null) ofAccount[account] = SeenMessages.decode(next.encode(), 0) { error("damaged: $vector") }
    if ((next != null) == vector.getBoolean("isNew")) null else "seen: $vector"
  }
}

private fun wrongTaps(): List<String> {
  var events = emptyList<String>()
  val listener = { event: String -> events += event }
  PushEvents.tapped("before JavaScript runs")
  PushEvents.addListener(listener)
  PushEvents.tapped("while it runs")
  PushEvents.tokenReplaced()
  val taken = listOf(PushEvents.takeTaps(), PushEvents.takeTaps())
  PushEvents.removeListener(listener)
  PushEvents.tapped("after a reload")
  val wanted = listOf(listOf("before JavaScript runs", "while it runs"), emptyList())
  return listOfNotNull(
    if (taken == wanted) null else "taps: $taken",
    if (events == listOf("waxwing.tap", "waxwing.token")) null else "events: $events",
  )
}

fun main(args: Array<String>) {
  val vectors = JSONObject(File(args[0]).readText())
  val wrong = wrongPushes(vectors) + wrongMessages(vectors.getJSONObject("seen")) + wrongDamages() + wrongTaps()
  wrong.forEach(::println)
  println("${vectors.getJSONArray("pushes").length()} pushes, ${wrong.size} wrong results")
  exitProcess(if (wrong.isEmpty()) 0 else 1)
}
