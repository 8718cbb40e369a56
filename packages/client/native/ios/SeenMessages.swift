import CryptoKit
import Foundation

/// Replay protection for one account. Records the newest messages and payloads that were shown, so that neither a
/// vendor nor a relay can replay them. The watermark is the latest time of any evicted message. A message that is not
/// later than the watermark counts as already shown. If the watermark is set, `messages` is not empty, and no message
/// in it is earlier than the watermark.
struct SeenMessages {
  struct Message: Equatable {
    let time: Int64
    /// The id of a message, or "p" and the id of a payload.
    let name: String
  }

  let watermark: Int64?
  let messages: [Message]

  static let empty = SeenMessages(watermark: nil, messages: [])

  /// Adds a message, and keeps the newest `capacity` messages. Returns nil for a repeat, which must not be shown.
  func with(_ message: Message, capacity: Int = 200) -> SeenMessages? {
    if let watermark, message.time <= watermark { return nil }
    if messages.contains(message) { return nil }
    // Sorts by time, not by arrival. Otherwise a message dated far in the future could become the watermark.
    let all = (messages + [message]).sorted { $0.time < $1.time }
    let evicted = all.dropLast(capacity).last
    return SeenMessages(watermark: evicted?.time ?? watermark, messages: Array(all.suffix(capacity)))
  }
}

extension SeenMessages {
  /// The record as text: watermark or "-", messages, checksum; separated by spaces.
  var encoded: String {
    let words = messages.map { "\($0.time):\($0.name)" }
    let content = ([watermark.map { String($0) } ?? "-"] + words).joined(separator: " ")
    return "\(content) \(checksum(content))"
  }

  /// Decodes the value of `encoded`. Any other text counts as damaged: calls `onDamage`, and keeps the readable parts.
  /// Damage must neither disable replay protection nor make new messages count as repeats.
  /// - Parameter now: Unix seconds according to the phone's clock. Messages in damaged text are kept only if earlier.
  init(encoded: String, now: Int64, onDamage: () -> Void) {
    let read = SeenMessages(readable: encoded)
    let seen = read.consistent
    if seen.encoded == encoded {
      self = seen
      return
    }
    onDamage()
    let past = read.messages.filter { $0.time < now }
    self = SeenMessages(watermark: read.watermark, messages: past).consistent
  }

  private init(readable text: String) {
    let words = text.split(separator: " ", omittingEmptySubsequences: false)
    let first = words.first ?? ""
    // Treats an unreadable watermark as later than all messages, so that `consistent` replaces it.
    watermark = first == "-" ? nil : Int64(first) ?? .max
    messages = words.dropFirst().compactMap { word in
      let parts = word.split(separator: ":")
      guard parts.count == 2, let time = Int64(parts[0]) else { return nil }
      return Message(time: time, name: String(parts[1]))
    }
  }

  /// A consistent copy: drops a watermark without messages, replaces a watermark later than all messages, and drops
  /// messages earlier than the watermark.
  private var consistent: SeenMessages {
    let sorted = messages.sorted { $0.time < $1.time }
    guard let watermark, let smallest = sorted.first else { return SeenMessages(watermark: nil, messages: sorted) }
    let rest = sorted.filter { $0.time >= watermark }
    return rest.isEmpty
      ? SeenMessages(watermark: smallest.time, messages: sorted)
      : SeenMessages(watermark: watermark, messages: rest)
  }
}

private func checksum(_ content: String) -> String {
  SHA256.hash(data: Data(content.utf8)).prefix(6).map { String(format: "%02x", $0) }.joined()
}
