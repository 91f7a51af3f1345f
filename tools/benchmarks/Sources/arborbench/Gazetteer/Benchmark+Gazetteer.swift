import Foundation

extension Benchmark {
  /// Compares operations on realistic data with SQLite, alternating and with the same results:
  /// `gazetteer FILE N ROUNDS` recreates FILE.arbor and FILE.sqlite. A final `alone` omits the
  /// rival, for profiles.
  func compareGazetteers(rounds: Int) throws {
    let data = GazetteerData(count: count)
    for name in ["arbor", "arbor-lock", "sqlite", "sqlite-wal", "sqlite-shm"] {
      try? FileManager.default.removeItem(atPath: "\(path).\(name)")
    }
    let comparison = GazetteerComparison(
      arbor: try ArborGazetteer(path: path + ".arbor"),
      rival: flags.contains("alone") ? nil : try SQLiteGazetteer(path: path + ".sqlite"),
      rounds: rounds)
    comparison.printHead()
    try comparison.once("import in batches") { rival in
      try rival.load(data, batch: 20_000)
      return GazetteerAnswer()
    }
    let size = try comparison.size("file", target: 2)
    // Uses copies, so that the following operations run on the imported files.
    try comparison.size("file after compact()", target: 1) { try $0.compactedSize() }
    let boxes = GazetteerBox.boxes(200, in: data)
    try comparison.inTurn("box, count", target: 1.2) { try $0.count(in: boxes) }
    try comparison.inTurn("box, fetch", target: 1.2) { try $0.fetch(in: boxes) }
    try comparison.inTurn("three aggregates by country", target: 0.8) { try $0.group() }
    try comparison.inTurn("sum", target: 1) { try $0.sum() }
    try comparison.inTurn("ASCII name contains", target: 1.5) { try $0.contains("hamb") }
    try comparison.inTurn("name contains", target: 1.5, isSame: false) {
      try $0.containsInName("hamb")
    }
    let scan = try comparison.inTurn("scan of elevations") { try $0.scan() }
    let nested = try comparison.inTurn("cities among large ones") { try $0.amongLarge() }
    comparison.ratio("the same in scans", nested, to: scan, target: 10)
    let words = data.words(200)
    try comparison.inTurn("words") { try $0.match(words) }
    try comparison.once("delete half", target: 0.5 / 100_000 * Double(count / 2)) {
      try $0.delete(upTo: Int64(count / 2))
    }
    try comparison.growth("file after it", since: size, target: 1.1)
    try comparison.once("compact") {
      try $0.compact()
      return GazetteerAnswer()
    }
    if Meter.isSelected("compact") { try comparison.size("file after compact()", target: 1) }
  }
}

extension GazetteerData {
  /// Returns ASCII words from the alternate names of some cities.
  fileprivate func words(_ count: Int) -> [String] {
    var random = SplitMix(seed: 13)
    var words: [String] = []
    while words.count < count {
      let names = cities[random.below(cities.count)].alternateNames
      let word = names.split { $0 == "," || $0 == " " || $0 == "-" }.first ?? ""
      if word.count > 3, word.utf8.allSatisfy({ $0 < 128 }), !word.contains("ss") {
        words.append(String(word))
      }
    }
    return words
  }
}

/// A comparison that runs operations on a store and on its rival in turn, and prints a line for
/// each: the medians of the processor time, their ratio, the target and whether it is met.
struct GazetteerComparison {
  let arbor: any GazetteerRival
  let rival: (any GazetteerRival)?
  let rounds: Int

  private var all: [any GazetteerRival] { [arbor] + (rival.map { [$0] } ?? []) }

  func printHead() {
    Meter.printLine([
      "operation", "ArborData", "SQLite", "ratio", "target", "wall", "wall", "rows",
    ])
  }

  /// Measures a read in rounds.
  ///
  /// - Returns: The store's median time, or `nil` if the operation isn't selected.
  @discardableResult
  func inTurn(
    _ name: String, target: Double? = nil, isSame: Bool = true,
    _ body: (any GazetteerRival) throws -> GazetteerAnswer
  ) throws -> Double? {
    guard Meter.isSelected(name) else { return nil }
    var times: [[CallTime]] = all.map { _ in [] }
    var answers = all.map { _ in GazetteerAnswer() }
    // The first round warms the caches and is not counted.
    for round in 0...rounds {
      for (index, one) in all.enumerated() {
        let time = try CallTime { answers[index] = try body(one) }
        if round > 0 { times[index].append(time) }
      }
    }
    try report(name, times, answers, target: target, isSame: isSame)
    return CallTime.median(times[0].map(\.processor))
  }

  /// Compares the store's time for one operation with that for another.
  func ratio(_ name: String, _ time: Double?, to other: Double?, target: Double) {
    guard let time, let other else { return }
    Meter.printLine([name, "", "", String(format: "%.2f", time / other), "\(target)", "", "", ""])
  }

  /// Measures an operation that can run only once. The target is in seconds.
  func once(
    _ name: String, target: Double? = nil,
    _ body: (any GazetteerRival) throws -> GazetteerAnswer
  ) throws {
    guard Meter.isSelected(name) else { return }
    var answers = all.map { _ in GazetteerAnswer() }
    let times = try all.enumerated().map { index, one in
      [try CallTime { answers[index] = try body(one) }]
    }
    try report(name, times, answers, target: target, isSame: true, isRatio: false)
  }

  /// Compares the bytes of both files, or those that `measure` returns. Returns those of the store.
  @discardableResult
  func size(
    _ name: String, target: Double,
    _ measure: (any GazetteerRival) throws -> Int = { try $0.size() }
  ) throws -> Int {
    let size = try measure(arbor)
    printSizes(name, size, try rival.map(measure) ?? size, target: target)
    return size
  }

  /// Reports the growth of the store's file.
  func growth(_ name: String, since before: Int, target: Double) throws {
    guard Meter.isSelected("delete") else { return }
    printSizes(name, try arbor.size(), before, target: target)
  }

  private func printSizes(_ name: String, _ own: Int, _ other: Int, target: Double) {
    let megabytes = [own, other].map { String(format: "%.1f MB", Double($0) / 1e6) }
    let ratio = String(format: "%.2f", Double(own) / Double(other))
    Meter.printLine([name] + megabytes + [ratio, "\(target)", "", "", ""])
  }

  private func report(
    _ name: String, _ times: [[CallTime]], _ answers: [GazetteerAnswer], target: Double?,
    isSame: Bool, isRatio: Bool = true
  ) throws {
    guard !isSame || answers.allSatisfy({ $0 == answers[0] }) else {
      throw BenchmarkError("\(name): \(answers[0]) is not \(answers[1])")
    }
    var times = times
    if times.count == 1 { times.append(times[0]) }
    let processor = times.map { CallTime.median($0.map(\.processor)) }
    let wall = times.map { CallTime.median($0.map(\.wall)) }
    let figures = (processor + wall).map { String(format: "%.2f ms", $0 * 1e3) }
    Meter.printLine([
      name, figures[0], figures[1], String(format: "%.2f", processor[0] / processor[1]),
      target.map { isRatio ? "\($0)" : String(format: "%.2f s", $0) } ?? "", figures[2],
      figures[3], "\(answers[0].count)",
    ])
  }
}
