package waxwing.push

import java.util.concurrent.CopyOnWriteArraySet

/**
 * Passes events from the service and the activity to JavaScript, if JavaScript runs in this process. Queues each tap
 * until JavaScript takes it, because a tap can start the app. Does not queue token changes: FCM returns the new token
 * when the app next starts.
 */
object PushEvents {
  private val taps = ArrayDeque<String>()
  private val listeners = CopyOnWriteArraySet<(String) -> Unit>()

  fun addListener(listener: (String) -> Unit) {
    listeners.add(listener)
  }

  fun removeListener(listener: (String) -> Unit) {
    listeners.remove(listener)
  }

  fun tapped(name: String) {
    synchronized(taps) { taps.addLast(name) }
    emit("waxwing.tap")
  }

  fun takeTaps(): List<String> = synchronized(taps) { taps.toList().also { taps.clear() } }

  fun tokenReplaced() = emit("waxwing.token")

  private fun emit(event: String) = listeners.forEach { it(event) }
}
