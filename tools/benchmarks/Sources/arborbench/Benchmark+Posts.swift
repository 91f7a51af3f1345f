import ArborData
import Foundation

/// Messages of rooms that store two aggregates of their messages, compared with rooms that don't.
extension Benchmark {
  /// Posts N messages in separate commits to each of two stores, in alternating blocks, and then
  /// 100,000 messages to one room in one commit. The stores differ only in the derived attributes of
  /// rooms. Without sync, they are in memory.
  func comparePosts(rounds: Int) throws {
    let plain = try roomStore(isDerived: false)
    let derived = try roomStore(isDerived: true)
    for _ in 0..<max(1, rounds) {
      try post(count, to: plain, "posts_plain")
      try post(count, to: derived, "posts_derived")
      try fillRoom(plain, "members_plain")
      try fillRoom(derived, "members_derived")
    }
    let context = derived.makeContext()
    for room in try context.fetch(FetchRequest<ManagedObject>(entity: "Room")) {
      let messages = try room.objects(forKey: "messages").fetch().count
      guard room["messageCount"] == messages else {
        throw BenchmarkError("a stored count is wrong")
      }
    }
  }

  private func roomStore(isDerived: Bool) throws -> PersistentStore {
    let model = try ManagedObjectModel {
      EntityDescription("Room") {
        AttributeDescription("name", .string, .default(""))
        if isDerived {
          AttributeDescription("messageCount", .integer64, .default(0), .derived("messages.@count"))
          AttributeDescription("lastDate", .date, .optional, .derived("messages.@max.date"))
        }
        RelationshipDescription("messages", to: "Message", inverse: "room", .toMany)
      }
      EntityDescription("Message") {
        AttributeDescription("date", .date, .optional)
        AttributeDescription("text", .string, .default(""))
        RelationshipDescription("room", to: "Room", inverse: "messages")
      }
    }
    let location = StoreLocation.path(path + (isDerived ? "-derived" : "-plain"))
    let store = try PersistentStore(
      model: model, at: flags.contains("nosync") ? .inMemory : location)
    let context = store.makeContext()
    for number in 0..<100 { try context.insert("Room")["name"] = "room \(number)" }
    try context.commit()
    return store
  }

  private func rooms(_ context: ManagedObjectContext) throws -> [ManagedObject] {
    try context.fetch(FetchRequest<ManagedObject>(entity: "Room"))
      .sorted { $0.objectID.number < $1.objectID.number }
  }

  private func insertMessage(
    _ number: Int, in room: ManagedObject, _ context: ManagedObjectContext
  ) throws {
    let message = try context.insert("Message")
    message["date"] = Date(timeIntervalSinceReferenceDate: Double(number))
    message["text"] = "A message of about the usual length, with the number \(number)."
    message["room"] = room
  }

  private func post(_ count: Int, to store: PersistentStore, _ name: String) throws {
    let context = store.makeContext()
    let rooms = try rooms(context)
    try Meter.measure(name, repetitions: count) {
      for number in 0..<count {
        try insertMessage(number, in: rooms[number * 37 % rooms.count], context)
        try context.commit()
      }
      return (count, 0)
    }
  }

  private func fillRoom(_ store: PersistentStore, _ name: String) throws {
    let context = store.makeContext()
    let room = try context.insert("Room")
    try context.commit()
    try Meter.measure(name) {
      for number in 0..<100_000 { try insertMessage(number, in: room, context) }
      try context.commit()
      return (100_000, 0)
    }
  }
}
