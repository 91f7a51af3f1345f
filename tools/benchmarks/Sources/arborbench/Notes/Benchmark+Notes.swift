import Foundation

/// Lists of notes that are kept up to date while single objects change, compared with SQLite, where
/// the same list is queried again.
extension Benchmark {
  /// Prints the cost of a change beyond its commit with N / 10 and with N notes, which are created in
  /// FILE.arbor and FILE.sqlite. A view reads the list after each change.
  func compareNotes(rounds: Int) throws {
    let sizes = [max(100, count / 10), count]
    let tables = try sizes.map { try measureNotes(count: $0, rounds: max(1, rounds)) }
    Meter.printLine(
      ["beyond the commit"] + sizes.map { "ArborData \($0)" } + ["growth"]
        + sizes.map { "SQLite \($0)" } + ["growth", "ratio"])
    for (small, large) in zip(tables[0], tables[1]) {
      let figures = [[small.arbor, large.arbor], [small.sqlite, large.sqlite]].flatMap { times in
        times.map { String(format: "%.4f ms", $0 * 1e3) }
          + [String(format: "%.1f", times[1] / times[0])]
      }
      Meter.printLine(
        [small.name] + figures + [String(format: "%.2f", large.arbor / large.sqlite)])
    }
  }

  private func measureNotes(count: Int, rounds: Int) throws -> [NotesComparison.Line] {
    for name in ["arbor", "arbor-lock", "sqlite", "sqlite-wal", "sqlite-shm"] {
      try? FileManager.default.removeItem(atPath: "\(path).\(name)")
    }
    let data = NotesData(count: count)
    var comparison = NotesComparison(
      arbor: try ArborNotes(path: path + ".arbor"), sqlite: try SQLiteNotes(path: path + ".sqlite"),
      rounds: rounds)
    for rival in comparison.rivals { try rival.load(data) }
    var random = SplitMix(seed: 24)
    let title = {
      NotesChange.title(
        note: 1 + random.below(count), random.letters(8) + " \(random.below(count))")
    }
    let name = { NotesChange.folderName(NotesData.largeFolder, random.letters(6) + " 1") }
    try comparison.changes("title in a list by title", in: .byTitle, 20, title)
    try comparison.changes("title in a list by folder and title", in: .byFolder, 20, title)
    try comparison.changes("title in the same list with sections", in: .inSections, 20, title)
    try comparison.changes("name of the large folder in it", in: .inSections, 2, name)
    try comparison.inTurn("opening the list in sections") { rival, _ in
      var answers: [Answer] = []
      let time = try CallTime {
        try rival.show(.inSections)
        answers = [try rival.read()]
      }
      try rival.show(nil)
      return (time.processor, answers)
    }
    try comparison.inTurn("adding a note to the Set of a tag") { rival, _ in
      var answers: [Answer] = []
      let time = try CallTime { answers = [try rival.tagNotes(count / 50)] }
      return (time.processor / Double(count / 50), answers)
    }
    return comparison.lines
  }
}

/// A comparison that runs operations on a store and on SQLite in turn, and keeps the medians of the
/// processor time in seconds.
struct NotesComparison {
  typealias Line = (name: String, arbor: Double, sqlite: Double)

  let rivals: [any NotesRival]
  let rounds: Int
  private(set) var lines: [Line] = []

  init(arbor: ArborNotes, sqlite: SQLiteNotes, rounds: Int) {
    rivals = [arbor, sqlite]
    self.rounds = rounds
  }

  /// Measures changes of single objects while a list is shown, minus as many changes without a list.
  ///
  /// - Parameter block: The number of changes of each kind in a round.
  mutating func changes(
    _ name: String, in list: NotesList, _ block: Int, _ change: () -> NotesChange
  ) throws {
    let changes = (0...rounds).map { _ in (0..<2 * block).map { _ in change() } }
    try inTurn(name) { rival, round in
      let alone = try CallTime {
        for change in changes[round].prefix(block) { try rival.apply(change) }
      }
      try rival.show(list)
      var answers = [try rival.read()]
      let shown = try CallTime {
        for change in changes[round].suffix(block) {
          try rival.apply(change)
          answers.append(try rival.read())
        }
      }
      try rival.show(nil)
      return ((shown.processor - alone.processor) / Double(block), answers)
    }
  }

  /// Measures an operation in rounds.
  ///
  /// - Parameter measure: Performs the operation in a round, and returns the time and the answers.
  /// - Throws: `BenchmarkError` if the answers differ.
  mutating func inTurn(
    _ name: String, _ measure: (any NotesRival, Int) throws -> (Double, [Answer])
  ) throws {
    guard Meter.isSelected(name) else { return }
    var times: [[Double]] = [[], []]
    // The first round warms the caches and is not counted.
    for round in 0...rounds {
      let results = try rivals.map { try measure($0, round) }
      guard results[0].1 == results[1].1 else {
        throw BenchmarkError("\(name): \(results[0].1) is not \(results[1].1)")
      }
      guard round > 0 else { continue }
      for side in 0...1 { times[side].append(results[side].0) }
    }
    lines.append((name, CallTime.median(times[0]), CallTime.median(times[1])))
  }
}
