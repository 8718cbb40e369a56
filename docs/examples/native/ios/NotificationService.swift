import Foundation
import Security
import UserNotifications

/// The notification service extension: iOS starts it for every push with `mutable-content`, and it has half a minute.
final class NotificationService: UNNotificationServiceExtension {
  private var deliver: ((UNNotificationContent) -> Void)?
  private var fallback: UNNotificationContent?

  override func didReceive(
    _ request: UNNotificationRequest,
    withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
  ) {
    deliver = contentHandler
    // What the server wrote for phones that cannot open it: it says nothing of the message.
    fallback = request.content
    let userInfo = request.content.userInfo
    let opened = openPush(
      pushAccountId: decimalDigits(userInfo["push_account_id"]),
      encryptedData: userInfo["encrypted_data"] as? String,
      findAccount: readSharedKeychain)
    finish(content(for: opened, request: request))
  }

  override func serviceExtensionTimeWillExpire() {
    finish(fallback ?? UNNotificationContent())
  }

  private func finish(_ content: UNNotificationContent) {
    deliver?(content)
    deliver = nil
  }

  private func content(for opened: OpenedPush, request: UNNotificationRequest) -> UNNotificationContent {
    guard case .message(let message, let account) = opened,
      let content = request.content.mutableCopy() as? UNMutableNotificationContent,
      isNew("\(account.pushAccountId) \(message.message_id ?? 0)")
    else { return request.content }
    content.title = message.sender_full_name ?? ""
    content.subtitle = [message.channel_name, message.topic].compactMap { $0 }.joined(separator: " > ")
    content.body = message.content ?? ""
    content.threadIdentifier = "\(account.realmOrigin) \(content.subtitle)"
    return content
  }
}

/// APNs delivers the id as a JSON number, which `NSNumber` keeps whole. A fraction or a boolean is no id.
private func decimalDigits(_ value: Any?) -> String? {
  if let text = value as? String { return text }
  guard let number = value as? NSNumber, CFGetTypeID(number) == CFNumberGetTypeID(),
    !CFNumberIsFloatType(number as CFNumber)
  else { return nil }
  return String(number.int64Value)
}

/// The text that the app has put into the keychain that both share, under the service `waxwing.push.<id>`.
private func readSharedKeychain(pushAccountId: String) -> String? {
  let query: [CFString: Any] = [
    kSecClass: kSecClassGenericPassword,
    kSecAttrService: "waxwing.push.\(pushAccountId)",
    kSecAttrAccessGroup: Bundle.main.object(forInfoDictionaryKey: "WaxwingKeychainGroup") ?? "",
    kSecReturnData: true,
    kSecMatchLimit: kSecMatchLimitOne,
  ]
  var found: CFTypeRef?
  guard SecItemCopyMatching(query as CFDictionary, &found) == errSecSuccess, let data = found as? Data
  else { return nil }
  return String(data: data, encoding: .utf8)
}

/// Remembers the last 200 messages in the app group, so that nobody can show one twice.
private func isNew(_ message: String) -> Bool {
  let group = Bundle.main.object(forInfoDictionaryKey: "WaxwingAppGroup") as? String
  guard let defaults = UserDefaults(suiteName: group) else { return true }
  let seen = defaults.stringArray(forKey: "waxwing.seen") ?? []
  if seen.contains(message) { return false }
  defaults.set(Array((seen + [message]).suffix(200)), forKey: "waxwing.seen")
  return true
}
