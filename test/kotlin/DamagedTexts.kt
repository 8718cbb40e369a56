package waxwing.push

private const val NOW = 1_800_000_000L
private const val FUTURE = 9_000_000_000_000_000L

private fun textOf(count: Int): String {
  val past = (1..count).map { SeenMessages.SeenMessage(NOW - 3 * it, "$it") }
  return past.fold(SeenMessages.none) { seen, message -> seen.with(message) ?: seen }.encode()
}

private fun mutationsOf(text: String): List<String> =
  text.indices.flatMap { at ->
    val changed = "09:- pv\u0000".map { text.replaceRange(at, at + 1, it.toString()) }
    changed + listOf(text.take(at), text.drop(at), text.removeRange(at, at + 1), text.replaceRange(at, at, "9"))
  }

/** Texts that resemble a stored state. */
private val inventions =
  listOf("", "-", "$FUTURE", "$FUTURE ", "$FUTURE $FUTURE:1", "$FUTURE 1:1 2:2", "? 1:1", "nonsense", "{}") +
    "$FUTURE ${(1..300).joinToString(" ") { "$FUTURE:$it" }}"

/** Checks that a damaged text is detected, and that no new message counts as a repeat because of it. */
fun wrongDamages(): List<String> {
  val texts = listOf(1, 2, 250).map(::textOf)
  val intact = texts.filter { text -> SeenMessages.decode(text, NOW) { error("damaged: $text") }.encode() != text }
  val damaged = (texts.flatMap(::mutationsOf) + inventions).filter { it !in texts }
  val wrong =
    damaged.filter { text ->
      var isNoticed = false
      val seen = SeenMessages.decode(text, NOW) { isNoticed = true }
      val first = seen.with(SeenMessages.SeenMessage(NOW, "new"))
      val second = first?.with(SeenMessages.SeenMessage(NOW, "newer"))
      !isNoticed || second == null || second.messages.size > 200
    }
  // A message as old as an evicted message must count as a repeat, even if the stored text is damaged.
  val cut = SeenMessages.decode(textOf(250).dropLast(1), NOW) {}
  val replayed = listOfNotNull(cut.with(SeenMessages.SeenMessage(NOW - 3 * 250, "250")))
  return (intact + wrong).map { "damage: $it" } + replayed.map { "replayed: ${it.watermark}" }
}
