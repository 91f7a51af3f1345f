import ArborLog
import ArborModel
import ArborObjects
import Foundation
import TestSupport
import Testing

private struct Former: Codable, Equatable {
  var city = ""
  var marks: [Mark] = []
  struct Mark: Codable, Equatable { var name = "" }
}

private struct Newer: Codable, Equatable {
  var city = ""
  var floor: Int?
  var marks: [Mark] = []
  struct Mark: Codable, Equatable {
    var name = ""
    var points: Int?
  }
}

/// Two machines whose programs know different parts of a type share a log.
@Suite("Parts of JSON in a shared log") struct SharedPartsTests {
  private let folder: TemporaryFolder
  private let log = SimulatedLog()

  init() throws { folder = try TemporaryFolder() }

  private func open<T: Codable>(_ name: String, _ type: T.Type) throws -> PersistentStore {
    let model = try ManagedObjectModel(entities: [
      EntityDescription(
        name: "Thing",
        attributes: [
          AttributeDescription("number", .integer64, .default(0)),
          AttributeDescription("value", type),
        ])
    ]).validated()
    return try PersistentStore(
      model: model, at: .path(folder.path("\(name).arbor")), following: log, every: .seconds(3600))
  }

  @Test("Random changes of both programs lose no part", arguments: 1...5 as ClosedRange<UInt64>)
  func inTurn(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let former = try open("a", Former.self)
    defer { former.close() }
    let newer = try open("b", Newer.self)
    defer { newer.close() }
    var all: [Int64: Newer] = [:]
    for step in 0..<60 {
      let number = Int64.random(in: 0..<6, using: &random)
      if Bool.random(using: &random) {
        try change(former, number, Former.self) { value in
          value.city = "city \(step)"
          if value.marks.isEmpty { value.marks = [.init(name: "a"), .init(name: "b")] }
          value.marks[0].name = "mark \(step)"
        }
        all[number, default: Newer()].city = "city \(step)"
        if all[number]?.marks.isEmpty ?? true {
          all[number]?.marks = [.init(name: "a"), .init(name: "b")]
        }
        all[number]?.marks[0].name = "mark \(step)"
      } else {
        try change(newer, number, Newer.self) { value in
          value.floor = step
          for index in value.marks.indices { value.marks[index].points = step + index }
        }
        all[number, default: Newer()].floor = step
        for index in all[number]?.marks.indices ?? 0..<0 {
          all[number]?.marks[index].points = step + index
        }
      }
    }
    for store in [former, newer] {
      try store.catchUp()
      let context = store.makeContext()
      for (number, value) in all {
        let object = try #require(
          try context.objects("Thing").filter("number == \(number)").first())
        let found: Newer = object._attribute(1)
        #expect(found == value, "seed \(seed), \(number)")
      }
      try store.check()
    }
  }

  private func change<T: Codable>(
    _ store: PersistentStore, _ number: Int64, _ type: T.Type, _ body: (inout T) -> Void
  ) throws {
    try store.catchUp()
    let context = store.makeContext()
    let object: ManagedObject
    if let present = try context.objects("Thing").filter("number == \(number)").first() {
      object = present
    } else {
      object = try context.insert("Thing")
      try object.setValue(.integer(number), forKey: "number")
    }
    var value: T = object._attribute(1)
    body(&value)
    object._setAttribute(1, value)
    try context.commit()
  }
}
