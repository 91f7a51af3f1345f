internal import ArborFoundation
internal import ArborModel

/// The statistics for scoring a text, apart from the text itself.
struct TextStatistics {
  let objects: Int
  /// The number of objects that contain each search term.
  let counts: [Int]
  /// The average number of distinct words per object, or `nil` to ignore the length.
  let averageLength: Double?
}

/// BM25: the relevance of a text to a search.
///
/// A term counts more the rarer it is among all objects and the more often it occurs in the text,
/// with diminishing returns. It counts less in texts with more distinct words than average (S.
/// Robertson, H. Zaragoza: *The Probabilistic Relevance Framework: BM25 and Beyond*, 2009). As in
/// Lucene, the weight of a term is never negative: a word that most objects contain counts little.
struct TextScore {
  /// The saturation of term frequency, k1.
  private static let saturation = 1.2
  /// The influence of the length, b.
  private static let lengthShare = 0.75

  private let weights: [Double]
  private let averageLength: Double?

  init(_ statistics: TextStatistics) {
    let objects = Double(statistics.objects)
    weights = statistics.counts.map { count in
      let count = min(Double(count), objects)
      return log(1 + (objects - count + 0.5) / (count + 0.5))
    }
    averageLength = statistics.averageLength
  }

  /// - Parameters:
  ///   - frequencies: The number of occurrences of each term, weighted by attribute.
  ///   - length: The number of distinct words in the text.
  func score(_ frequencies: [Double], length: Int) -> Double {
    var norm = 1.0
    if let averageLength {
      norm = 1 - Self.lengthShare + Self.lengthShare * Double(length) / averageLength
    }
    var score = 0.0
    for (weight, frequency) in zip(weights, frequencies) {
      score += weight * frequency * (Self.saturation + 1) / (frequency + Self.saturation * norm)
    }
    return score
  }
}

/// Scores rows and keeps the best ones, in a binary heap if there is a limit.
struct RankedRows: RowSink {
  private let search: TextSearch
  private let score: TextScore
  private let maximumCount: Int
  private var tokens = TextTokens()
  private var frequencies: [Double]
  /// The rows kept so far. Once full, a heap with the worst row at the top; unordered until then.
  private var rows: [ScoredRow] = []

  init(_ search: TextSearch, _ statistics: TextStatistics) {
    self.search = search
    score = TextScore(statistics)
    let (sum, overflows) = search.limit.addingReportingOverflow(search.offset)
    maximumCount = search.limit == 0 || overflows ? .max : sum
    frequencies = Array(repeating: 0, count: search.text.wanted.count)
  }

  mutating func take(_ rows: Span<FoundRow>, of entity: EntitySchema) -> Bool {
    for index in rows.indices { add(rows[index], of: entity) }
    return true
  }

  private mutating func add(_ row: FoundRow, of entity: EntitySchema) {
    guard let length = readTerms(row.record, entity) else { return }
    let scored = ScoredRow(number: row.number, score: score.score(frequencies, length: length))
    if rows.count < maximumCount {
      rows.append(scored)
      if rows.count == maximumCount { makeHeap() }
    } else if Self.isBetter(scored, rows[0]) {
      rows[0] = scored
      sink(0)
    }
  }

  /// Returns the best rows, the best first.
  func best(offset: Int) -> [ScoredRow] { Array(rows.sorted(by: Self.isBetter).dropFirst(offset)) }

  /// Counts the search terms in a record and returns the number of distinct words. Returns `nil` if
  /// a required term is missing or an unwanted one is present.
  private mutating func readTerms(_ record: RecordView, _ entity: EntitySchema) -> Int? {
    var length = 0
    for index in frequencies.indices { frequencies[index] = 0 }
    for column in search.columns {
      let field = entity.attributes[column.slot].field
      guard !record.isNull(field) else { continue }
      tokens.read(record.bytes(field))
      for term in search.text.unwanted where term.count(in: tokens) > 0 { return nil }
      for (index, term) in search.text.wanted.enumerated() {
        let count = term.count(in: tokens)
        // A word counts as present even if its attribute has a weight of 0.
        frequencies[index] += Double(count) * max(column.weight, .leastNormalMagnitude)
      }
      tokens.sortDistinct()
      length += tokens.count
    }
    return frequencies.allSatisfy { $0 > 0 } ? length : nil
  }

  private static func isBetter(_ left: ScoredRow, _ right: ScoredRow) -> Bool {
    left.score != right.score ? left.score > right.score : left.number < right.number
  }

  private mutating func makeHeap() {
    for index in stride(from: rows.count / 2 - 1, through: 0, by: -1) { sink(index) }
  }

  private mutating func sink(_ start: Int) {
    var index = start
    while true {
      var worst = index
      for child in [2 * index + 1, 2 * index + 2] where child < rows.count {
        if Self.isBetter(rows[worst], rows[child]) { worst = child }
      }
      guard worst != index else { return }
      rows.swapAt(index, worst)
      index = worst
    }
  }
}
