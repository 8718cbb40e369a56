/// The newest messages and payloads of one account that were shown, so that neither a vendor nor a relay can replay one.
/// Also the latest time among evicted ones: an older message counts as shown.
struct SeenMessages {
  struct Message: Equatable {
    let time: Int64
    /// The id of a message, or "p" and the id of a payload.
    let name: String
  }

  let watermark: Int64?
  let messages: [Message]

  /// Adds a message, and keeps at most `capacity`. Returns nil for a repeat, which is not shown.
  func with(_ message: Message, capacity: Int = 200) -> SeenMessages? {
    if let watermark, message.time <= watermark { return nil }
    if messages.contains(message) { return nil }
    // Sorted by time, not by arrival: otherwise one message from a clock far ahead would become the watermark.
    let all = (messages + [message]).sorted { $0.time < $1.time }
    if all.count <= capacity { return SeenMessages(watermark: watermark, messages: all) }
    // Never lowered, even if a damaged text contained an entry below the watermark.
    return SeenMessages(watermark: max(watermark ?? .min, all[0].time), messages: Array(all.dropFirst()))
  }
}

extension SeenMessages {
  var encoded: String {
    let words = messages.map { "\($0.time):\($0.name)" }
    return ([watermark.map { String($0) } ?? "-"] + words).joined(separator: " ")
  }

  /// Skips damaged parts, which must not stop notifications.
  init(encoded: String) {
    let words = encoded.split(separator: " ", omittingEmptySubsequences: false)
    watermark = words.first.flatMap { Int64($0) }
    messages = words.dropFirst().compactMap { word in
      let parts = word.split(separator: ":")
      guard parts.count == 2, let time = Int64(parts[0]) else { return nil }
      return Message(time: time, name: String(parts[1]))
    }
  }
}
