package waxwing.push

/**
 * The newest messages and payloads of one account that were shown, so that neither a vendor nor a relay can replay
 * one. Also the latest time among evicted ones: an older message counts as shown.
 */
data class SeenMessages(val watermark: Long?, val messages: List<SeenMessage>) {
  /** [name] is the id of a message, or "p" and the id of a payload. */
  data class SeenMessage(val time: Long, val name: String)

  /** Adds a message, and keeps at most [capacity]. Returns null for a repeat, which is not shown. */
  fun with(message: SeenMessage, capacity: Int = 200): SeenMessages? {
    val isOlder = watermark != null && message.time <= watermark
    if (isOlder || message in messages) return null
    // Sorted by time, not by arrival: otherwise one message from a clock far ahead would become the watermark.
    val all = (messages + message).sortedBy { it.time }
    if (all.size <= capacity) return SeenMessages(watermark, all)
    // Never lowered, even if a damaged text contained an entry below the watermark.
    return SeenMessages(maxOf(watermark ?: Long.MIN_VALUE, all.first().time), all.drop(1))
  }

  fun encode(): String =
    (listOf(watermark?.toString() ?: "-") + messages.map { "${it.time}:${it.name}" }).joinToString(" ")

  companion object {
    /** Skips damaged parts, which must not stop notifications. */
    fun decode(text: String): SeenMessages {
      val words = text.split(' ')
      val messages =
        words.drop(1).mapNotNull { word ->
          val time = word.substringBefore(':').toLongOrNull()
          val name = word.substringAfter(':', "")
          if (time == null || name == "") null else SeenMessage(time, name)
        }
      return SeenMessages(words.first().toLongOrNull(), messages)
    }
  }
}
