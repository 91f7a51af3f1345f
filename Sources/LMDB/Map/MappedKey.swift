/// A key to search for in a ``MappedTree``, with the neighbours found during the descent.
///
/// A rank is a number that is monotonic in the key: keys with different ranks are ordered by rank.
/// It also serves interpolation search, as it estimates the position of a key between two others.
protocol MappedKey {
  /// A key as read from a page.
  associatedtype Stored

  /// The greatest key found so far that is not greater than the one searched for, or `nil`.
  var low: Stored? { get set }
  /// The least key found so far that is greater than the one searched for, or `nil`.
  var high: Stored? { get set }

  /// Returns the key of a node, or `nil` if it exceeds its page.
  func stored(_ nodeIndex: Int, in page: MappedPage) -> Stored?
  /// Returns a negative number if the key precedes a stored one, 0 if they are equal, or a positive
  /// number if it follows the stored one.
  func order(to stored: Stored) -> Int
  /// Prepares the ranks. Called for each page once both neighbours are known.
  mutating func chooseRanks()
  /// The rank of the key searched for.
  var rank: UInt64 { get }
  func rank(of stored: Stored) -> UInt64
}

extension MappedKey {
  /// Returns the index of the node of a branch page that leads to the key, or `nil` if the page
  /// cannot be read.
  @inline(__always)
  mutating func branch(in page: MappedPage) -> Int? {
    // The first node of a branch page has no key and leads to everything below the second one.
    switch find(in: page, from: 1) {
    case .equal(let nodeIndex), .behind(let nodeIndex): nodeIndex
    case .unreadable: nil
    }
  }

  /// Returns the index of the first node of a leaf whose key is not less than the one searched for,
  /// or the number of nodes if there isn't one. Returns `nil` if the leaf cannot be read.
  mutating func firstNotBelow(in page: MappedPage) -> Int? {
    switch find(in: page, from: 0) {
    case .equal(let nodeIndex): nodeIndex
    case .behind(let nodeIndex): nodeIndex + 1
    case .unreadable: nil
    }
  }

  /// Returns the key's value in a leaf.
  @inline(__always)
  mutating func value(in page: MappedPage, of tree: MappedTree) -> MappedTree.Answer {
    switch find(in: page, from: 0) {
    case .equal(let nodeIndex): page.value(nodeIndex, in: tree)
    case .behind: .missing
    case .unreadable: .unknown
    }
  }

  /// Finds the last node whose key is not greater than the one searched for, starting at `first`.
  /// If there isn't one, finds the node before `first`.
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

  /// Compares the last and the first key if the pages above have not provided a neighbour. Returns
  /// `nil` if the key is between them.
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

/// The position of a key in a page.
enum FoundNode {
  case equal(Int)
  case behind(Int)
  case unreadable
}

/// The range of nodes of a page in which a key may be found.
struct NodeSpan {
  /// The nodes before this one are not greater than the key.
  private(set) var first: Int
  /// The nodes from this one on are greater than the key.
  private(set) var end: Int
  /// The position of the lower neighbour whose rank is known. Initially a neighbour from the pages
  /// above, treated as if it were at the beginning.
  private var low: Int
  /// The position of the upper neighbour whose rank is known. Initially a neighbour from the pages
  /// above, treated as if it were at the end.
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

  /// Returns the index of the node to compare next: by interpolation search, then the one next to
  /// it, and after two such rounds by binary search, so that the worst case stays logarithmic.
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
