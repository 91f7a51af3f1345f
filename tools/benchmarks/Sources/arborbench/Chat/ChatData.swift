import Foundation

/// The data of a chat: rooms and authors of very different activity, and messages in the order of
/// their dates. The same number of messages always generates the same data.
struct ChatData {
  struct MessageRow {
    /// Numbers, from 1.
    let room: Int
    let author: Int
    /// Whole seconds since 2001-01-01 UTC, different for each message.
    let sent: Int64
    let text: String

    var date: Date { Date(timeIntervalSinceReferenceDate: Double(sent)) }
  }

  struct MembershipRow {
    let author: Int
    let room: Int
    let lastRead: Int64
  }

  /// The number of rooms in which each of the first authors is a member.
  static let roomsOfMember = 26

  let count: Int
  let roomNames: [String]
  let authorNames: [String]
  let memberships: [MembershipRow]
  private let words: [String]

  /// Describes `count` messages in a room for 200 of them, by an author for 100 of them.
  init(count: Int) {
    self.count = count
    var random = SplitMix(seed: 22)
    let roomCount = max(100, count / 200)
    roomNames = (1...roomCount).map { "Room \($0) " + random.letters(6) }
    authorNames = (1...max(200, count / 100)).map { random.letters(6) + " \($0)" }
    words = (0..<20_000).map { _ in
      let length = 2 + random.below(9)
      return random.letters(length)
    }
    memberships = (0..<2_786).map { index in
      let author = 1 + index / Self.roomsOfMember
      let offset = index % Self.roomsOfMember * roomCount / Self.roomsOfMember
      // Most have read nearly everything.
      let unread = pow(random.unit(), 2) / 2
      return MembershipRow(
        author: author, room: 1 + (author * 7 + offset) % roomCount,
        lastRead: Int64(Double(count * 20) * (1 - unread)))
    }
  }

  /// Generates the messages from a number on, from 0. Those beyond `count` are posted in measurements.
  func messages(from start: Int = 0, count: Int) -> some Sequence<MessageRow> {
    (start..<start + count).lazy.map(message)
  }

  /// Returns the message with a number, from 0. A few rooms have no messages.
  func message(_ number: Int) -> MessageRow {
    var random = SplitMix(seed: UInt64(number) &* 0x2545_F491_4F6C_DD1D)
    let active = roomNames.count - roomNames.count / 200
    let room = 1 + Int(pow(random.unit(), 2) * Double(active))
    let author = 1 + Int(pow(random.unit(), 3) * Double(authorNames.count))
    let text = (0..<3 + random.below(18)).map { _ in
      words[Int(pow(random.unit(), 4) * Double(words.count))]
    }
    return MessageRow(
      room: room, author: author, sent: Int64(number * 20 + random.below(20)),
      text: text.joined(separator: " "))
  }
}
