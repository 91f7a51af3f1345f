import Foundation

/// The result of one side of a comparison: the number of rows, and a checksum of their values.
struct Answer: Equatable {
  var count = 0
  var checksum: UInt64 = 0

  /// Adds a row. The order of rows doesn't affect the checksum; add the position if it matters.
  mutating func add(_ values: Int64..., text: String = "") {
    count += 1
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for value in values { hash = (hash ^ UInt64(bitPattern: value)) &* 0x100_0000_01B3 }
    for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    checksum &+= hash
  }
}

/// A comparison of a store with SQLite that runs each operation on both in turn and prints a line:
/// the medians of the processor time, their ratio, the medians of the wall time, and their ratio.
struct Comparison {
  let rounds: Int

  func printHead() {
    Meter.printLine([
      "operation", "ArborData", "SQLite", "ratio", "wall", "wall", "ratio", "rows",
    ])
  }

  /// Measures an operation in rounds.
  ///
  /// - Parameters:
  ///   - repetitions: The number of operations that one call performs.
  /// - Throws: `BenchmarkError` if the answers differ.
  func inTurn(
    _ name: String, repetitions: Int = 1, _ arbor: () throws -> Answer,
    _ sqlite: () throws -> Answer
  ) throws {
    guard Meter.isSelected(name) else { return }
    var times: [[CallTime]] = [[], []]
    var answers = [Answer(), Answer()]
    // The first round warms the caches and is not counted.
    for round in 0...max(1, rounds) {
      let pair = [
        try CallTime { answers[0] = try arbor() }, try CallTime { answers[1] = try sqlite() },
      ]
      guard answers[0] == answers[1] else {
        throw BenchmarkError("\(name): \(answers[0]) is not \(answers[1])")
      }
      guard round > 0 else { continue }
      for side in 0...1 { times[side].append(pair[side]) }
    }
    let figures = [\CallTime.processor, \.wall].flatMap { clock in
      let medians = times.map { CallTime.median($0.map { $0[keyPath: clock] }) }
      return medians.map { String(format: "%.4f ms", $0 * 1e3 / Double(repetitions)) }
        + [String(format: "%.2f", medians[0] / medians[1])]
    }
    Meter.printLine([name] + figures + ["\(answers[0].count)"])
  }
}
