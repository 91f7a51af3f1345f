import ArborJSON
import ArborModel
import ArborStore
import Foundation
import LMDB

/// The output of `info` for a store, in addition to that for any LMDB file.
struct StoreFacts {
  let store: StoreEngine
  let file: InspectedFile

  func add(to facts: inout Facts) throws {
    let header = try header()
    facts.add("kind", "ArborData store")
    facts.add("storeID", label: "store", store.id.uuidString.lowercased())
    facts.add("format", "\(header.majorVersion).\(header.minorVersion)")
    facts.add("modelGeneration", label: "model generation", Int(header.modelGeneration))
    facts.add(
      "modelFingerprint", label: "model fingerprint",
      "\(header.modelFingerprint)")
    facts.add("commits", Int(header.sequence))
    try addLastCommit(header.sequence, to: &facts)
    let scrubbed = try store.lastScrub().map { ISO8601Date.milliseconds($0) }
    facts.add(
      "lastScrub", label: "last scrub", json: scrubbed.map(JSONValue.string) ?? .null,
      text: scrubbed ?? "never")
    let order = try store.durabilityOrder()
    facts.add("durability", json: .string(order.rawValue), text: Self.text(order))
    try addEntities(to: &facts)
  }

  private static func text(_ order: DurabilityOrder) -> String {
    switch order {
    case .synced: "commits are synced by LMDB"
    case .overlapping: "commits are written to a journal while LMDB commits"
    case .inOrder: "commits are written to a journal before LMDB commits"
    case .sharedLog: "commits are written to a shared log"
    }
  }

  private func header() throws -> HeaderRecord {
    try file.environment.read { try StoreHeader.read($0.reader) }
  }

  private func addLastCommit(_ sequence: UInt64, to facts: inout Facts) throws {
    let snapshot = try store.snapshot()
    defer { snapshot.close() }
    guard sequence > 0, case .entries(let entries) = try snapshot.history(after: sequence - 1),
      let last = entries.last
    else { return }
    let date = ISO8601Date.milliseconds(last.date)
    let author = [last.author, last.contextName].compactMap { $0 }.joined(separator: ", ")
    facts.add(
      "lastCommit", label: "last commit",
      json: ["date": .string(date), "author": last.author.map(JSONValue.string) ?? .null],
      text: author.isEmpty ? date : "\(date) by \(author)")
  }

  private func addEntities(to facts: inout Facts) throws {
    var counts = JSONObject()
    var words: [String] = []
    let snapshot = try store.snapshot()
    defer { snapshot.close() }
    for entity in store.schema.entities where !entity.isAbstract {
      let query = StoreQuery(entity: entity, includesSubentities: false)
      let count = try snapshot.count(query, overlay: nil)
      counts[entity.name] = JSONValue(count)
      words.append("\(entity.name) \(count)")
    }
    facts.add("objects", json: .object(counts), text: words.joined(separator: ", "))
  }
}
