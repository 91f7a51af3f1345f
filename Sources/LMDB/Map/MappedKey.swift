/// A key that is sought in a ``MappedTree``, and what the way down has shown of its neighbours.
///
/// A rank is a number that never falls where keys rise: of two keys of different rank the order is
/// known. It also says about where between two others a key is to be found.
protocol MappedKey {
  /// A key as it is read from a page.
  associatedtype Stored

  /// The last key met that is not above the one sought; nil as long as none exists.
  var low: Stored? { get set }
  /// The first key met that is above the one sought.
  var high: Stored? { get set }

  /// The key of a node; nil where it does not lie in its page.
  func stored(_ nodeIndex: Int, in page: MappedPage) -> Stored?
  /// How the key sought stands to another: below 0 before it, 0 equal, above 0 behind it.
  func order(to stored: Stored) -> Int
  /// Is called on each page once both neighbours are known, before any rank is asked for.
  mutating func chooseRanks()
  /// The rank of the key sought.
  var rank: UInt64 { get }
  func rank(of stored: Stored) -> UInt64
}

extension MappedKey {
  /// The node of a branch that leads to the key; nil where the branch cannot be read.
  @inline(__always)
  mutating func branch(in page: MappedPage) -> Int? {
    // The first node of a branch has no key and leads to all that is below the second.
    switch find(in: page, from: 1) {
    case .equal(let nodeIndex), .behind(let nodeIndex): nodeIndex
    case .unreadable: nil
    }
  }

  /// The first node of a leaf whose key is the one sought or above, their number where there is
  /// none; nil where the leaf cannot be read.
  mutating func firstNotBelow(in page: MappedPage) -> Int? {
    switch find(in: page, from: 0) {
    case .equal(let nodeIndex): nodeIndex
    case .behind(let nodeIndex): nodeIndex + 1
    case .unreadable: nil
    }
  }

  /// The key's value in a leaf.
  @inline(__always)
  mutating func value(in page: MappedPage, of tree: MappedTree) -> MappedTree.Answer {
    switch find(in: page, from: 0) {
    case .equal(let nodeIndex): page.value(nodeIndex, in: tree)
    case .behind: .missing
    case .unreadable: .unknown
    }
  }

  /// The last node whose key is not above the one sought, from the node `first` on; the one before
  /// where none exists.
  @inline(__always)
  private mutating func find(in page: MappedPage, from first: Int) -> FoundNode {
    var span = NodeSpan(first, page.count)
    if let found = lookAtEnds(of: page, &span) { return found }
    chooseRanks()
    guard let low, let high else { return .unreadable }
    var ranks = (low: rank(of: low), high: rank(of: high))
    while span.first < span.end {
      let nodeIndex = span.guess(rank, between: ranks)
      guard let here = stored(nodeIndex, in: page) else { return .unreadable }
      let hereRank = rank(of: here)
      let order = hereRank == rank ? order(to: here) : rank < hereRank ? -1 : 1
      if order < 0 {
        self.high = here
        ranks.high = hereRank
        span.end(at: nodeIndex)
      } else {
        self.low = here
        ranks.low = hereRank
        if order == 0 { return .equal(nodeIndex) }
        span.begin(behind: nodeIndex)
      }
    }
    return .behind(span.first &- 1)
  }

  /// Compares with the last and first keys, unless a bound is known from the pages above.
  @inline(__always)
  private mutating func lookAtEnds(of page: MappedPage, _ span: inout NodeSpan) -> FoundNode? {
    if high == nil {
      let last = page.count &- 1
      guard let key = stored(last, in: page) else { return .unreadable }
      let order = order(to: key)
      if order >= 0 {
        low = key
        return order == 0 ? .equal(last) : .behind(last)
      }
      high = key
      span.end(at: last)
    }
    if low == nil {
      let first = span.first
      guard first < span.end else { return .behind(first &- 1) }
      guard let key = stored(first, in: page) else { return .unreadable }
      let order = order(to: key)
      if order < 0 {
        high = key
        return .behind(first &- 1)
      }
      low = key
      if order == 0 { return .equal(first) }
      span.begin(behind: first)
    }
    return nil
  }
}

/// Where a key is in a page.
enum FoundNode {
  case equal(Int)
  case behind(Int)
  case unreadable
}

/// The nodes of a page that a key may be found at.
struct NodeSpan {
  /// Nodes before it are not above the key.
  private(set) var first: Int
  /// From here on all are.
  private(set) var end: Int
  /// Where the neighbours lie whose ranks are known; at first what the pages above have shown,
  /// which is as if it lay at the ends.
  private var low: Int
  private var high: Int
  private var guesses = 0
  private var wasBelow = false

  @inline(__always)
  init(_ first: Int, _ end: Int) {
    (self.first, self.end) = (first, end)
    (low, high) = (first, end)
  }

  @inline(__always)
  mutating func end(at nodeIndex: Int) {
    end = nodeIndex
    high = nodeIndex
    wasBelow = false
  }

  @inline(__always)
  mutating func begin(behind nodeIndex: Int) {
    first = nodeIndex &+ 1
    low = nodeIndex
    wasBelow = true
  }

  /// The node to look at next: where the rank lies between its neighbours, then beside that, and
  /// after two such rounds in the middle, so that no order of keys takes long.
  @inline(__always)
  mutating func guess(_ rank: UInt64, between ranks: (low: UInt64, high: UInt64)) -> Int {
    guesses &+= 1
    if guesses & 1 == 0, guesses <= 4 { return wasBelow ? first : end &- 1 }
    guard guesses < 4, ranks.low <= rank, rank <= ranks.high, ranks.low < ranks.high else {
      return (first &+ end) >> 1
    }
    let share = Double(rank &- ranks.low) / Double(ranks.high &- ranks.low)
    let nodeIndex = low &+ Int(share * Double(high &- low))
    return min(max(nodeIndex, first), end &- 1)
  }
}
