import ArborData
import Foundation
import TestSupport
import Testing

@testable import crash_writer

/// The operations on a store during which calls fail or power is lost.
enum StoreWork: String, CaseIterable {
  /// Creates a ledger and commits rounds.
  case creation
  /// Commits rounds to an existing ledger.
  case commits
  /// Builds indexes after a change of the model.
  case index
  /// Migrates without custom code.
  case evolve
  /// Migrates with custom code, in a copy that replaces the store.
  case convert
  case compact
  case copy
  case salvage
  /// Backs up to a log, twice with a snapshot.
  case backup
  /// Commits rounds through a shared log.
  case share
  /// Commits rounds to an existing ledger through a journal.
  case journal
  /// Recovers a ledger from its journal and continues with it.
  case recovery
  /// Restores a store from a log.
  case restore
  /// Removes all objects.
  case purge
  /// Commits rounds to an album with an ordered relationship and large binaries.
  case album
  case seed
  /// Imports in batches.
  case importing = "import"

  static let roundsBefore = 4

  /// All kinds, or the one named by `ARBOR_WORK`.
  static let tested: [StoreWork] = {
    let given = ProcessInfo.processInfo.environment["ARBOR_WORK"].flatMap(StoreWork.init)
    return given.map { [$0] } ?? allCases
  }()

  fileprivate static let convertedEntries = 60
  fileprivate static let conversionArguments = ["0", "25"]

  private var isOfAlbum: Bool { [.album, .seed, .importing].contains(self) }

  /// Creates the files that the program starts with.
  ///
  /// - Parameter log: The folder of a log into which no faults are injected; created if this work
  ///   uses one.
  func prepare(_ path: String, log: String, seed: UInt64) throws {
    if self == .creation { return }
    if self == .recovery { return try prepareRecovery(path, seed: seed) }
    if self == .convert {
      try Conversion.fill(path, count: Self.convertedEntries)
    } else if isOfAlbum {
      let writer = try AlbumWriter(path: path) { _ in }
      try writer.write(rounds: Self.roundsBefore, seed: seed)
      writer.store.close()
      try AlbumWriter.writeDocument(for: path, ofSeed: self == .seed)
    } else {
      let writer = try LedgerWriter(path: path) { _ in }
      defer { writer.store.close() }
      for round in 1...Self.roundsBefore {
        try writer.write(rounds: 1, seed: seed)
        guard self == .restore else { continue }
        // Two snapshots, and commits after the last one.
        try writer.store.backUp(to: LedgerBackUp.log(of: path), snapshot: round % 2 == 1)
      }
    }
    if self == .share {
      let folder = URL(filePath: log)
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try LedgerSharing.open(path, FileLog(folder)).close()
    }
  }

  /// Kills a program that writes through a journal, before the machine was restarted.
  private func prepareRecovery(_ path: String, seed: UInt64) throws {
    let folder = try TemporaryFolder()
    let boot = folder.path("boot")
    try Data(UUID().uuidString.utf8).write(to: URL(filePath: boot))
    let run = try CrashWriterRun(
      ["forsake", path, "\(seed)", "\(Self.roundsBefore)"],
      environment: [
        LedgerJournal.variable: "1000", "ARBOR_FAULTS_BOOT": boot, "SWIFT_BACKTRACE": "enable=no",
      ])
    #expect(run.finish().errors.isEmpty)
    #expect(run.acknowledged("round").last == Int64(Self.roundsBefore))
    #expect(FileManager.default.fileExists(atPath: path + "-journal"))
  }

  /// Returns the crash-writer's environment variables.
  func environment(log: String) -> [String: String] {
    switch self {
    case .journal, .recovery: [LedgerJournal.variable: "3"]
    case .share: [LedgerSharing.variable: log, LedgerJournal.variable: "3"]
    default: [:]
    }
  }

  /// Returns the crash-writer's arguments.
  func arguments(_ path: String, seed: UInt64, rounds: Int) -> [String] {
    switch self {
    case .creation, .commits, .journal, .recovery: ["rounds", path, "\(seed)", "\(rounds)"]
    case .share: ["share", path, "\(seed)", "\(rounds)"]
    case .album: ["album", path, "\(seed)", "\(rounds)"]
    case .index: ["index", path, "5", "1"]
    case .backup: ["backup", path, "2", "4"]
    case .convert: ["convert", path] + Self.conversionArguments
    default: [rawValue, path, "0", "1"]
    }
  }
}

/// A comparison of the files that a program left with the lines that it printed.
struct StoreWorkVerifier {
  let work: StoreWork
  let path: String
  /// The folder of the log.
  let log: String
  let seed: UInt64
  /// The lines that the program printed.
  let lines: [String]
  /// Whether the store may contain a commit that was not acknowledged, which is the case if the
  /// program was interrupted but not if the commit was refused.
  let mayBeAhead: Bool

  /// Returns a description of the first violation, or `nil` if there isn't one.
  func violation() throws -> String? {
    guard FileManager.default.fileExists(atPath: path) else {
      return work == .creation && last("round") == nil ? nil : "the store is gone"
    }
    if work == .convert { return try violationOfConversion() }
    do {
      let store = try open()
      defer { store.close() }
      try store.check()
    } catch {
      return "\(error)"
    }
    do { return try violationOfContents() } catch let defect as LedgerDefect {
      return defect.description
    }
  }

  /// Opens the store, through the log up to its last recorded entry if there is one.
  private func open() throws -> PersistentStore {
    guard work == .share else { return try PersistentStore(at: .file(URL(filePath: path))) }
    let end = UInt64(last("logged") ?? 0)
    return try LedgerSharing.open(path, FileLog(URL(filePath: log), end: end))
  }

  private func violationOfContents() throws -> String? {
    switch work {
    case .index, .evolve, .convert: return nil
    case .purge where last("purged") != nil: return try violationOfPurge()
    case .album: return try violationOfAlbum()
    case .seed, .importing: return try violationOfAlbum() ?? violationOfBrought()
    case .backup: return try violationOfLedger(path) ?? violationOfLog()
    case .purge:
      let found = try violationOfLedger(path)
      return found != nil && mayBeAhead ? try violationOfPurge() : found
    case .copy, .salvage: return try violationOfLedger(path) ?? violationOfCopy()
    case .restore: return try violationOfLedger(path) ?? violationOfRestored()
    default: return try violationOfLedger(path)
    }
  }

  /// Returns the number on the last line that begins with a word.
  private func last(_ word: String) -> Int? {
    lines.last { $0.hasPrefix(word + " ") }.flatMap { Int($0.dropFirst(word.count + 1)) }
  }

  private var acknowledgedRound: Int? {
    last("round") ?? (work == .creation ? nil : StoreWork.roundsBefore)
  }

  private func violation(round: Int) -> String? {
    let least = acknowledgedRound ?? 0
    let allowed = least...(mayBeAhead || acknowledgedRound == nil ? least + 1 : least)
    return allowed.contains(round) ? nil : "round \(round) after \(least) acknowledged"
  }

  private func violationOfLedger(_ path: String) throws -> String? {
    let store = try LedgerWriter.open(path)
    defer { store.close() }
    guard let state = try LedgerState(reading: store) else {
      return acknowledgedRound == nil ? nil : "the ledger is gone"
    }
    if let what = violation(round: state.round) { return what }
    return state == LedgerState(seed: seed, rounds: state.round)
      ? nil : "round \(state.round) has other contents"
  }

  private func violationOfPurge() throws -> String? {
    let store = try LedgerWriter.open(path)
    defer { store.close() }
    return try LedgerState(reading: store) == nil ? nil : "what was purged is there"
  }

  /// Checks that the store is in its state before or after the migration, and that another
  /// migration completes.
  private func violationOfConversion() throws -> String? {
    let count = StoreWork.convertedEntries
    do {
      let reader = try PersistentStore(at: .path(path), options: StoreOptions(isReadOnly: true))
      defer { reader.close() }
      try reader.check()
      guard try reader.makeContext().count("Entry") == count else { return "entries are gone" }
    } catch {
      return "\(error)"
    }
    if last("converted") == nil {
      let next = try CrashWriterRun(["convert", path] + StoreWork.conversionArguments).finish()
      guard next.status == 0 else { return "the next migration: \(next.errors)" }
    }
    if let problem = try Conversion.problem(path, count: count) { return problem }
    let folder = URL(filePath: path).deletingLastPathComponent().path
    let left = try FileManager.default.contentsOfDirectory(atPath: folder)
    // A lock file that could not be removed may remain, because the next migration removes it.
    return left.contains { $0.contains("-migration-") && !$0.hasSuffix("-lock") }
      ? "left behind \(left)" : nil
  }

  private func violationOfCopy() throws -> String? {
    try violationOfMade(path + ".copy", isDone: last("copied") != nil || last("salvaged") != nil)
  }

  private func violationOfRestored() throws -> String? {
    try violationOfMade(LedgerBackUp.restored(path), isDone: last("restored") != nil)
  }

  /// Checks that another file is either missing or the complete ledger.
  private func violationOfMade(_ made: String, isDone: Bool) throws -> String? {
    guard FileManager.default.fileExists(atPath: made) else {
      return isDone ? "there is no \(made)" : nil
    }
    return try violationOfLedger(made).map { "\(made): \($0)" }
  }

  private func violationOfAlbum() throws -> String? {
    let store = try AlbumWriter.open(path)
    defer { store.close() }
    guard let state = try AlbumState(reading: store) else { return "the album is gone" }
    if let what = violation(round: state.round) { return what }
    return state == AlbumState(seed: seed, rounds: state.round)
      ? nil : "round \(state.round) has other contents"
  }

  /// Checks that all or none of a seed and only whole batches of an import are there, and that
  /// repeating it adds the missing objects.
  private func violationOfBrought() throws -> String? {
    let all = AlbumWriter.foreignPictures.count
    let store = try AlbumWriter.open(path)
    let count = try AlbumWriter.countBrought(store)
    store.close()
    let acknowledged = last("brought") ?? 0
    guard count >= acknowledged, mayBeAhead || work != .seed || count == acknowledged else {
      return "\(count) pictures after \(acknowledged) acknowledged"
    }
    if work == .seed {
      guard count == 0 || count == all else { return "\(count) of \(all) pictures" }
      try AlbumWriter.writeDocument(for: path, ofSeed: true)
      let writer = try AlbumWriter(path: path) { _ in }
      defer { writer.store.close() }
      try writer.seed(path)
      return try AlbumWriter.countBrought(writer.store) == all ? nil : "the second seed differs"
    }
    return AlbumWriter.isWhole(count) ? nil : "\(count) pictures are part of a batch"
  }

  /// Checks that the log contains the ledger and that backups can continue.
  private func violationOfLog() throws -> String? {
    let store = try LedgerWriter.open(path)
    defer { store.close() }
    let log = LedgerBackUp.log(of: path)
    do {
      let added = try store.backUp(to: log)
      if let backed = last("backed"), added.sequence < UInt64(backed) {
        return "the log ends at \(added.sequence), \(backed) was acknowledged"
      }
      _ = try log.verify()
      let restored = try LedgerBackUp.restore(path)
      return try violationOfLedger(restored).map { "what was restored: \($0)" }
    } catch let error as ArborError {
      return "the log: \(error)"
    }
  }
}
