package waxwing.push

import java.security.MessageDigest

/**
 * Replay protection for one account. Records the newest messages and payloads that were shown, so that neither a vendor
 * nor a relay can replay them. The watermark is the latest time of any evicted message. A message that is not later
 * than the watermark counts as already shown. If the watermark is set, `messages` is not empty, and no message in it is
 * earlier than the watermark.
 */
data class SeenMessages(val watermark: Long?, val messages: List<SeenMessage>) {
  /** [name] is the id of a message, or "p" and the id of a payload. */
  data class SeenMessage(val time: Long, val name: String)

  /** Adds a message, and keeps the newest [capacity] messages. Returns null for a repeat, which must not be shown. */
  fun with(message: SeenMessage, capacity: Int = 200): SeenMessages? {
    val isOlder = watermark != null && message.time <= watermark
    if (isOlder || message in messages) return null
    // Sorts by time, not by arrival. Otherwise a message dated far in the future could become the watermark.
    val all = (messages + message).sortedBy { it.time }
    return SeenMessages(all.dropLast(capacity).lastOrNull()?.time ?: watermark, all.takeLast(capacity))
  }

  /** Encodes the record as text: watermark or "-", messages, checksum; separated by spaces. */
  fun encode(): String {
    val words = listOf(watermark?.toString() ?: "-") + messages.map { "${it.time}:${it.name}" }
    val content = words.joinToString(" ")
    return "$content ${checksum(content)}"
  }

  /**
   * Drops a watermark without messages, replaces a watermark later than all messages, and drops messages earlier than
   * the watermark.
   */
  private fun consistent(): SeenMessages {
    val sorted = messages.sortedBy { it.time }
    if (watermark == null || sorted.isEmpty()) return SeenMessages(null, sorted)
    val rest = sorted.filter { it.time >= watermark }
    return if (rest.isEmpty()) SeenMessages(sorted.first().time, sorted) else SeenMessages(watermark, rest)
  }

  companion object {
    val none = SeenMessages(null, emptyList())

    /**
     * Decodes the output of [encode]. Any other text counts as damaged: calls [onDamage], and keeps the readable parts.
     * Damage must neither disable replay protection nor make new messages count as repeats. [now] is in Unix seconds
     * according to the phone's clock. Messages in damaged text are kept only if they are earlier than [now].
     */
    fun decode(text: String, now: Long, onDamage: () -> Unit): SeenMessages {
      val read = read(text)
      val seen = read.consistent()
      if (seen.encode() == text) return seen
      onDamage()
      return read.copy(messages = read.messages.filter { it.time < now }).consistent()
    }

    private fun read(text: String): SeenMessages {
      val words = text.split(' ')
      val messages =
        words.drop(1).mapNotNull { word ->
          val time = word.substringBefore(':').toLongOrNull()
          val name = word.substringAfter(':', "")
          if (time == null || name == "") null else SeenMessage(time, name)
        }
      // Treats an unreadable watermark as later than all messages, so that `consistent` replaces it.
      val watermark = if (words.first() == "-") null else words.first().toLongOrNull() ?: Long.MAX_VALUE
      return SeenMessages(watermark, messages)
    }

    private fun checksum(content: String): String {
      val digest = MessageDigest.getInstance("SHA-256").digest(content.toByteArray())
      return digest.take(6).joinToString("") { "%02x".format(it) }
    }
  }
}
