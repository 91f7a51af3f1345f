import ArborExchange
import ArborModel
import ArborObjects
import Foundation
import TestSupport
import Testing

/// Exporting a random graph, seeding an empty store with it, and exporting that store yields
/// identical bytes.
@Suite("Exports of random graphs") struct RandomExportsTests {
  /// The number of random graphs; the environment may override it.
  private static let rounds =
    ProcessInfo.processInfo.environment["ARBOR_ROUNDS"].flatMap(Int.init) ?? 30

  @Test(
    "Exporting and seeding a random graph yields identical bytes",
    arguments: JSONExportFormat.allCases)
  func aRoundTripIsTheSameToTheByte(
    format: JSONExportFormat
  ) throws {
    for _ in 0..<Self.rounds {
      var random = SeededRandom()
      let context = try ExportWorkshop.makeContext()
      try ExportWorkshop.fill(
        context, count: Int.random(in: 0...40, using: &random), using: &random)
      let pending = try ExportWorkshop.exported(context, as: format)
      if Bool.random(using: &random) { try context.commit() }
      let first = try ExportWorkshop.exported(context, as: format)
      #expect(first == pending, "seed \(random.seed)")
      let copy = try ExportWorkshop.seeded(first, as: format)
      let second = try ExportWorkshop.exported(copy, as: format)
      #expect(
        String(decoding: second, as: UTF8.self) == String(decoding: first, as: UTF8.self),
        "seed \(random.seed)")
      try copy.commit()
      #expect(try ExportWorkshop.exported(copy, as: format) == first, "seed \(random.seed)")
      try copy.store.check()
    }
  }

  @Test("Exporting and seeding some objects of a random graph yields identical bytes")
  func aRoundTripFromSomeObjectsIsTheSameToTheByte() throws {
    for _ in 0..<20 {
      var random = SeededRandom()
      let context = try ExportWorkshop.makeContext()
      try ExportWorkshop.fill(context, count: 40, using: &random)
      try context.commit()
      let depth = [nil, 0, 1, 2].randomElement(using: &random) ?? nil
      var request = FetchRequest<ManagedObject>(entity: "Node", sortKeys: ["-text", "rank"])
      request.predicate = "rank != nil"
      let first = try context.export(request, depth: depth)
      let copy = try ExportWorkshop.seeded(first, as: .json)
      // For other depths, only the soundness of the copy is checked.
      if depth == nil || depth == 0 {
        #expect(try copy.export(request, depth: depth) == first, "seed \(random.seed)")
      }
      try copy.commit()
      try copy.store.check()
    }
  }
}
