import Foundation
import Security
import UserNotifications

/// The notification service extension. iOS starts the extension for every push with `mutable-content`, and stops it
/// after 30 seconds.
final class NotificationService: UNNotificationServiceExtension {
  private var deliver: ((UNNotificationContent) -> Void)?
  private var fallback: UNNotificationContent?

  override func didReceive(
    _ request: UNNotificationRequest,
    withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
  ) {
    deliver = contentHandler
    // Fallback if the push cannot be opened: the push's own text, which reveals nothing about the message.
    fallback = request.content
    let userInfo = request.content.userInfo
    let push = ReceivedPush(
      pushKeyId: decimalDigits(userInfo["push_key_id"]),
      pushAccountId: decimalDigits(userInfo["push_account_id"]),
      encryptedData: userInfo["encrypted_data"] as? String)
    let opened = openPush(push, readAccounts: readSharedKeychain)
    if case .remove(let messageIds, let account) = opened {
      hide(messageIds.map { shownName(account.owner, String($0)) })
    } else {
      finish(content(for: opened, request: request))
    }
  }

  override func serviceExtensionTimeWillExpire() {
    finish(fallback ?? UNNotificationContent())
  }

  private func finish(_ content: UNNotificationContent) {
    deliver?(content)
    deliver = nil
  }

  /// Hides messages that the user has read elsewhere. iOS passes removals to the extension only if the app has Apple's
  /// filtering entitlement, which also lets the extension show nothing by returning empty content.
  private func hide(_ names: [String]) {
    fallback = UNNotificationContent()
    let center = UNUserNotificationCenter.current()
    center.getDeliveredNotifications { shown in
      let hidden = shown.map { $0.request }.filter { request in
        guard let name = request.content.userInfo[shownNameKey] as? String else { return false }
        return names.contains(name)
      }
      center.removeDeliveredNotifications(withIdentifiers: hidden.map { $0.identifier })
      self.finish(UNNotificationContent())
    }
  }

  private func content(for opened: OpenedPush, request: UNNotificationRequest) -> UNNotificationContent {
    guard let content = request.content.mutableCopy() as? UNMutableNotificationContent else { return request.content }
    switch opened {
    case .message(let message, let account): return show(message, of: account, in: content) ?? request.content
    case .payload(let payload, let account): return show(payload, of: account, in: content) ?? request.content
    default: return request.content
    }
  }

  /// Shows a payload. The app defines payloads; this example shows the title and body. Returns nil for a repeat.
  private func show(
    _ payload: PushPayload, of account: ExtensionAccount, in content: UNMutableNotificationContent
  ) -> UNNotificationContent? {
    let name = "p\(payload.id)"
    guard isNew(SeenMessages.Message(time: payload.time, name: name), of: account.owner) else { return nil }
    content.title = payload.payload["title"] as? String ?? ""
    content.body = payload.payload["body"] as? String ?? ""
    content.userInfo[shownNameKey] = shownName(account.owner, name)
    return content
  }

  /// Shows a message. Returns nil for a repeat.
  private func show(
    _ message: PushNotification, of account: ExtensionAccount, in content: UNMutableNotificationContent
  ) -> UNNotificationContent? {
    guard let time = message.time, let messageId = message.message_id,
      isNew(SeenMessages.Message(time: time, name: String(messageId)), of: account.owner)
    else { return nil }
    content.title = message.sender_full_name ?? ""
    content.subtitle = [message.channel_name, message.topic].compactMap { $0 }.joined(separator: " > ")
    content.body = message.content ?? ""
    content.userInfo[shownNameKey] = shownName(account.owner, String(messageId))
    content.threadIdentifier = "\(account.realmOrigin) \(content.subtitle)"
    return content
  }
}

/// The `userInfo` key that stores the account and message of a shown notification, so that a removal can find it.
private let shownNameKey = "waxwing_message"

private func shownName(_ owner: String, _ name: String) -> String {
  "\(owner) \(name)"
}

/// Returns an id as decimal digits. APNs delivers ids as JSON numbers, which `NSNumber` does not round. Returns nil for
/// a fraction or a boolean.
private func decimalDigits(_ value: Any?) -> String? {
  if let text = value as? String { return text }
  guard let number = value as? NSNumber, CFGetTypeID(number) == CFNumberGetTypeID(),
    !CFNumberIsFloatType(number as CFNumber)
  else { return nil }
  return String(number.int64Value)
}

/// Reads the texts that the app has stored in the shared keychain group. Their service names are
/// `waxwing.push.<owner>`.
private func readSharedKeychain() -> [String] {
  let query: [CFString: Any] = [
    kSecClass: kSecClassGenericPassword,
    kSecAttrAccessGroup: Bundle.main.object(forInfoDictionaryKey: "WaxwingKeychainGroup") ?? "",
    kSecReturnAttributes: true,
    kSecReturnData: true,
    kSecMatchLimit: kSecMatchLimitAll,
  ]
  var found: CFTypeRef?
  guard SecItemCopyMatching(query as CFDictionary, &found) == errSecSuccess,
    let items = found as? [[CFString: Any]]
  else { return [] }
  return items.compactMap { item in
    guard let service = item[kSecAttrService] as? String, service.hasPrefix("waxwing.push."),
      let data = item[kSecValueData] as? Data
    else { return nil }
    return String(data: data, encoding: .utf8)
  }
}

/// Serializes replay checks: iOS may run several extension instances in one process at the same time. Without the lock,
/// two copies of a message could both count as new.
private let seenLock = NSLock()

private func warnOfDamage() {
  NSLog("%@", "The stored text of an account in \"waxwing.seen\" is damaged: its unreadable parts are dropped.")
}

/// Records the message in the app group and returns whether it is new. A replay must not be shown. Also deletes the
/// records of accounts that no longer have keys.
private func isNew(_ message: SeenMessages.Message, of owner: String) -> Bool {
  seenLock.lock()
  defer { seenLock.unlock() }
  let group = Bundle.main.object(forInfoDictionaryKey: "WaxwingAppGroup") as? String
  guard let defaults = UserDefaults(suiteName: group) else { return true }
  let known = defaults.dictionary(forKey: "waxwing.seen") as? [String: String] ?? [:]
  let now = Int64(Date().timeIntervalSince1970)
  let ofAccount = known[owner].map { SeenMessages(encoded: $0, now: now, onDamage: warnOfDamage) } ?? .empty
  guard let seen = ofAccount.with(message) else { return false }
  let accounts = Set(readSharedKeychain().compactMap { decodeAccount($0)?.owner })
  var texts = known.filter { accounts.contains($0.key) }
  texts[owner] = seen.encoded
  defaults.set(texts, forKey: "waxwing.seen")
  return true
}
