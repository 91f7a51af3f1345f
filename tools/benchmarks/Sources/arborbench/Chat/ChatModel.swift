import ArborData
import Foundation

/// Someone who writes messages.
final class Author: ManagedObject {
  override class var entityDescription: EntityDescription { description }
  override class var overriddenHooks: OverriddenHooks { OverriddenHooks(of: Author.self) }
  private static let description = EntityDescription("Author", className: "Author") {
    AttributeDescription("name", .string, .default(""))
    RelationshipDescription("messages", to: "Message", inverse: "author", .toMany)
    RelationshipDescription("memberships", to: "Membership", inverse: "author", .toMany)
  }

  func fill(name: String) { _setAttribute(0, name) }
}

/// A room, which stores the number of its messages and the date of the newest.
final class Room: ManagedObject {
  override class var entityDescription: EntityDescription { description }
  override class var overriddenHooks: OverriddenHooks { OverriddenHooks(of: Room.self) }
  private static let description = EntityDescription("Room", className: "Room") {
    AttributeDescription("name", .string, .default(""))
    AttributeDescription("messageCount", .integer64, .default(0), .derived("messages.@count"))
    AttributeDescription("lastSent", .date, .optional, .derived("messages.@max.sent"))
    RelationshipDescription("messages", to: "Message", inverse: "room", .toMany)
    RelationshipDescription("memberships", to: "Membership", inverse: "room", .toMany)
  }

  var name: String { _attribute(0) }
  var messageCount: Int64 { _attribute(1) }
  var lastSent: Date? { _attribute(2) }

  func fill(name: String) { _setAttribute(0, name) }
}

/// The membership of an author in a room, with the date of the last message that was read.
final class Membership: ManagedObject {
  override class var entityDescription: EntityDescription { description }
  override class var overriddenHooks: OverriddenHooks { OverriddenHooks(of: Membership.self) }
  private static let description = EntityDescription("Membership", className: "Membership") {
    AttributeDescription("lastRead", .date, .optional)
    RelationshipDescription("room", to: "Room", inverse: "memberships")
    RelationshipDescription("author", to: "Author", inverse: "memberships")
  }

  var lastRead: Date { _attribute(0) }
  var room: Room? { _toOne(0) }

  func fill(lastRead: Date, room: Room?, author: Author?) {
    _setAttribute(0, lastRead)
    _setToOne(0, room)
    _setToOne(1, author)
  }
}

/// A message, with an index of the messages of each room by date, and one of the words.
final class Message: ManagedObject {
  override class var entityDescription: EntityDescription { description }
  override class var overriddenHooks: OverriddenHooks { OverriddenHooks(of: Message.self) }
  private static let description = EntityDescription("Message", className: "Message") {
    AttributeDescription("sent", .date, .default(Date(timeIntervalSinceReferenceDate: 0)))
    AttributeDescription("text", .string, .default(""))
    RelationshipDescription("room", to: "Room", inverse: "messages")
    RelationshipDescription("author", to: "Author", inverse: "messages")
    FetchIndexDescription("timeline", on: "room", "sent")
    FetchIndexDescription(text: "text", name: "words")
  }

  var sent: Date { _attribute(0) }
  var text: String { _attribute(1) }
  var roomID: ObjectID? { _toOneID(0) }

  func fill(from row: ChatData.MessageRow, room: Room?, author: Author?) {
    _setAttribute(0, row.date)
    _setAttribute(1, row.text)
    _setToOne(0, room)
    _setToOne(1, author)
  }
}
