package import ArborModel
package import ArborStore
internal import Foundation
internal import LMDB

/// A sound store that is damaged and salvaged, to check that everything recoverable is recovered.
///
/// The pages of each record are determined by scanning the sound file page by page. A record on
/// undamaged pages must be in the new store, byte for byte.
package struct SalvageTrial {
  /// A record and the pages it occupies.
  private struct Record {
    let bytes: [UInt8]
    let pages: Set<UInt64>
  }

  package let path: String
  package let bytes: [UInt8]
  package let pageSize: Int
  private let records: [UInt64: Record]

  package var pageCount: Int { bytes.count / pageSize }

  /// - Parameter path: The path of a store that isn't open.
  package init(path: String) throws {
    self.path = path
    bytes = Array(try Data(contentsOf: URL(filePath: path)))
    (records, pageSize) = try Self.records(path)
  }

  /// Returns the records of the newest state and the page size.
  private static func records(_ path: String) throws -> ([UInt64: Record], pageSize: Int) {
    let file = try DamagedFile(path: path)
    guard let newest = file.transactions.first else { throw LMDBError.invalid }
    _ = try file.begin(with: newest) { (_, _) throws(LMDBError) in }
    let size = file.pageSize
    let found = Found()
    try file.scan { (page, use, leaf) throws(LMDBError) in
      guard use == .current else { return }
      try leaf.forEach { (entry) throws(LMDBError) in
        guard entry.key.count == 8 else { return }
        let key = entry.key.loadUnaligned(as: UInt64.self)
        try file.withValue(of: entry) { (value) throws(LMDBError) in
          // The keys of the history are below all object numbers.
          guard let value, key >> 48 > 0,
            let seed = RecordChecksum.seed(of: value, key: ObjectNumber(rawValue: key))
          else { return }
          var pages: Set<UInt64> = [page]
          if let first = entry.firstPage {
            pages.formUnion(first...(first + UInt64((value.count + 15) / size)))
          }
          found.records[seed, default: [:]][key] = Record(bytes: Array(value), pages: pages)
        }
      }
    }
    // The records of a store have one seed. What other entries have at that place is arbitrary.
    return (found.records.values.max { $0.count < $1.count } ?? [:], size)
  }

  private final class Found {
    /// The entries by the seed that their last bytes reveal.
    var records: [UInt32: [UInt64: Record]] = [:]
  }

  package var recordCount: Int { records.count }

  /// Returns the numbers of the records that occupy any of `pages`.
  package func numbers(on pages: Set<UInt64>) -> Set<ObjectNumber> {
    Set(
      records.filter { !$0.value.pages.isDisjoint(with: pages) }.map {
        ObjectNumber(rawValue: $0.key)
      })
  }

  /// Returns the defects of a salvaged store; empty if there are none.
  ///
  /// - Parameter damaged: The pages that were damaged.
  package func problems(
    of target: String, _ outcome: SalvageOutcome, damaged: Set<UInt64>
  ) throws -> [String] {
    var problems: [String] = []
    do { try TemporaryStore.check(path: target) } catch { problems.append("\(error)") }
    let kept = try Self.records(target).0
    let doubtful = Set(outcome.doubtful.map(\.rawValue))
    let mended = Set(
      outcome.lostLinks.map(\.owner.rawValue) + outcome.lostBinaries.map(\.owner.rawValue))
    for (key, record) in records where record.pages.isDisjoint(with: damaged) {
      guard let found = kept[key] else {
        // If it is unknown which of two records is outdated, they can't share a unique value.
        if outcome.leftOut.contains(where: { $0.rawValue == key }), !doubtful.isEmpty { continue }
        problems.append("\(Self.name(key)) on the pages \(record.pages) is missing")
        continue
      }
      if found.bytes != record.bytes, !mended.contains(key) {
        problems.append("\(Self.name(key)) is another")
      }
    }
    // If the recovered state may be an earlier one, its records may differ from the newest.
    guard outcome.state == .newest else { return problems }
    for (key, record) in kept where !doubtful.contains(key) && !mended.contains(key) {
      if records[key]?.bytes != record.bytes {
        problems.append("\(Self.name(key)) is out of date or deleted, and not listed")
      }
    }
    return problems
  }

  private static func name(_ key: UInt64) -> String {
    let number = ObjectNumber(rawValue: key)
    return "\(number.entity)/\(number.sequence)"
  }

  /// Writes damaged bytes to a file and salvages it.
  ///
  /// - Returns: The defects of the new store, and the outcome of the salvage.
  package func salvage(
    _ damagedBytes: [UInt8], damaged: Set<UInt64>, in folder: TemporaryFolder,
    model: ManagedObjectModel? = nil, maximumObjectsIndexedAtOnce: Int = 100_000
  ) throws -> (problems: [String], outcome: SalvageOutcome) {
    let (path, target) = (folder.path("damaged"), folder.path("salvaged"))
    for used in [path, target, target + "-lock"] {
      try? FileManager.default.removeItem(atPath: used)
    }
    try Data(damagedBytes).write(to: URL(filePath: path))
    let outcome = try StoreSalvage.run(
      from: path, to: target, model: model, maximumObjectsIndexedAtOnce: maximumObjectsIndexedAtOnce
    ).outcome
    return (try problems(of: target, outcome, damaged: damaged), outcome)
  }
}

/// A kind of damage to a file.
package enum PageDamage: CaseIterable, Sendable {
  case bit, zeros, noise, cut, swapped, repeated, range

  /// Damages `bytes` at random and returns the affected pages.
  package func strike(
    _ bytes: inout [UInt8], pageSize: Int, _ random: inout SeededRandom
  ) -> Set<UInt64> {
    let count = bytes.count / pageSize
    func page() -> Int { Int.random(in: 0..<count, using: &random) }
    func pages(_ range: Range<Int>) -> Set<UInt64> {
      range.isEmpty
        ? []
        : Set((UInt64(range.lowerBound / pageSize))...UInt64((range.upperBound - 1) / pageSize))
    }
    switch self {
    case .bit:
      let offset = Int.random(in: 0..<bytes.count, using: &random)
      bytes[offset] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      return [UInt64(offset / pageSize)]
    case .zeros, .noise:
      let struck = page()
      for offset in struck * pageSize..<(struck + 1) * pageSize {
        bytes[offset] = self == .zeros ? 0 : UInt8.random(in: 0...255, using: &random)
      }
      return [UInt64(struck)]
    case .cut:
      let length = Int.random(in: pageSize..<bytes.count, using: &random)
      let lost = pages(length..<bytes.count)
      bytes.removeSubrange(length...)
      return lost
    case .swapped:
      let (one, other) = (page(), page())
      guard one != other else { return [] }
      for offset in 0..<pageSize {
        bytes.swapAt(one * pageSize + offset, other * pageSize + offset)
      }
      return [UInt64(one), UInt64(other)]
    case .repeated:
      let (one, other) = (page(), page())
      guard one != other else { return [] }
      for offset in 0..<pageSize {
        bytes[one * pageSize + offset] = bytes[other * pageSize + offset]
      }
      return [UInt64(one)]
    case .range:
      let start = Int.random(in: 0..<bytes.count, using: &random)
      let end = min(bytes.count, start + Int.random(in: 1...4 * pageSize, using: &random))
      for offset in start..<end { bytes[offset] = UInt8.random(in: 0...255, using: &random) }
      return pages(start..<end)
    }
  }
}
