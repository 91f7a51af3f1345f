import Testing
import LMDB

/// Two databases of 16-byte values that are configured and changed like those of ordered
/// relationships: each value of one database is stored in the other with its halves swapped.
///
/// Keys grow to up to many thousands of values and shrink again, so that values move between inline
/// storage and trees of one to three levels, whose pages are split and merged.
struct DuplicatesRun {
  /// A result of the engine that differs from the model.
  struct Difference: Error, CustomStringConvertible {
    let description: String
  }
  private struct Stop: Error {}

  static let flags = DatabaseFlags.integerKey.union(.duplicates).union(.fixedDuplicates)
  private static let names = ["members", "order"]
  private static let sizes = [
    0, 1, 2, 6, 60, 120, 126, 130, 254, 256, 512, 1000, 5000, 20_000, 60_000,
  ]

  private(set) var environment: Environment
  private(set) var databases: [Database]
  private(set) var models = [DuplicatesModel(), DuplicatesModel()]
  /// The number of operations so far, including those of aborted transactions.
  private(set) var done = 0
  private(set) var aborted = 0
  /// The largest number of values that a key has had.
  private(set) var largest = 0
  private var generator: SeededGenerator
  private var keys: [UInt64]
  /// The number of values that each key grows or shrinks to.
  private var goals: [Int] = []
  /// The keys that receive half of the operations; otherwise, no key would ever become large.
  private var busy: [Int] = []
  private let folder: TemporaryFolder

  init(seed: UInt64) throws {
    generator = SeededGenerator(seed: seed)
    folder = try TemporaryFolder()
    // A tiny map, so that transactions rerun while it grows.
    environment = try folder.environment(mapSize: 1 << 16)
    databases = try Self.open(environment)
    keys = []
    for number in 1...40 { keys.append(number % 3 == 0 ? generator.next() : UInt64(number)) }
    setGoals()
  }

  private static func open(_ environment: Environment) throws -> [Database] {
    try names.map { try #require(try environment.openDatabase($0, flags, create: true)) }
  }

  /// Reopens the environment.
  mutating func reopen() throws {
    try environment.close()
    environment = try folder.environment { $0.create = false }
    databases = try Self.open(environment)
  }

  /// Picks new target sizes: small ones for most keys and the largest ones for busy keys.
  mutating func setGoals() {
    goals = keys.map { _ in Self.sizes[generator.below(Self.sizes.count - 3)] }
    // The previous busy keys are large now.
    for key in busy where generator.below(2) == 0 { goals[key] = 0 }
    busy = Array(busy.suffix(1))
    for size in Self.sizes.suffix(3) {
      let key = generator.below(keys.count)
      goals[key] = size
      busy.append(key)
    }
  }

  // MARK: Changing

  /// Runs up to 400 operations in one transaction. One in ten transactions is aborted and must not
  /// change anything.
  mutating func transaction() throws {
    let aborts = generator.below(10) == 0
    let count = 1 + generator.below(400)
    let start = (models, generator)
    var end = (start.0, start.1, 0)
    do {
      try environment.write { transaction in
        // The closure may rerun: it starts from the same state each time.
        var work = DuplicatesWork(databases: databases, models: start.0, generator: start.1)
        let cursor = try transaction.reader.cursor(databases[0])
        while work.done < count {
          let isBusy = work.generator.below(2) == 0
          let key =
            isBusy ? busy[work.generator.below(busy.count)] : work.generator.below(keys.count)
          try work.operate(transaction, cursor, keys[key], goal: goals[key])
        }
        end = (work.models, work.generator, work.done)
        if aborts { throw Stop() }
      }
      models = end.0
    } catch is Stop {
      aborted += 1
    }
    generator = end.1
    done += end.2
    largest = max(largest, models[0].values.values.reduce(0) { max($0, $1.count) })
  }

  // MARK: Comparing

  /// Compares both databases with the models, entry by entry and in batches, and verifies every
  /// page of the file.
  mutating func compare() throws {
    try environment.verifyPages(
      expecting: Dictionary(uniqueKeysWithValues: Self.names.map { ($0, Self.flags) }))
    try environment.read { snapshot in
      for (database, model) in zip(databases, models) {
        try Self.compare(snapshot.reader, database, model)
      }
    }
  }

  private static func compare(
    _ reader: TransactionReader, _ database: Database, _ model: DuplicatesModel
  ) throws {
    guard try reader.entryCount(database) == model.count else {
      throw Difference(description: "\(database.name): another number of entries")
    }
    let cursor = try reader.cursor(database)
    for key in model.keys {
      for value in model[key] {
        guard let entry = try cursor.next(), entry.integerKey == key,
          UInt128(stored: entry.value) == value
        else { throw Difference(description: "\(database.name): another entry of key \(key)") }
      }
      let other = try reader.cursor(database)
      guard try batches(other, key, most: .max) == model[key] else {
        throw Difference(description: "\(database.name): another batch of key \(key)")
      }
    }
    guard try cursor.next() == nil else {
      throw Difference(description: "\(database.name): entries behind the last")
    }
  }

  /// Returns the values of a key in at most `most` batches.
  static func batches(_ cursor: borrowing Cursor, _ key: UInt64, most: Int) throws -> [UInt128] {
    var found: [UInt128] = []
    var batches = 0
    var batch = try cursor.firstBatch(key)
    while let values = batch, batches < most {
      for offset in stride(from: 0, to: values.count, by: 16) {
        found.append(
          UInt128(bigEndian: values.loadUnaligned(fromByteOffset: offset, as: UInt128.self)))
      }
      batches += 1
      batch = try cursor.nextBatch()
    }
    return found
  }
}
