internal import ArborModel
internal import ArborStore

/// The current arrangement of results, and the leaf of each object, by which an object is found
/// without its key.
struct ArrangedRows {
  /// An object with its key.
  struct Row {
    let object: ManagedObject
    let key: RecordOrder.Key

    var fence: Arrangement.Fence { .init(key: key, number: object.number) }
  }

  private(set) var arrangement = Arrangement()
  /// The order of the keys, or `nil` if objects have none.
  let order: RecordOrder?
  /// Whether the objects are in the order of their keys, so that they can be found, inserted and
  /// removed.
  private(set) var isOrdered = false
  private let hasSections: Bool
  private var leaves = Leaves()

  /// The leaves of the current arrangement. A class, because it isn't part of earlier ones.
  private final class Leaves {
    let places = NumberMap()
    /// The fence of each leaf, by its number. A leaf keeps its fence.
    var fences: [Arrangement.Fence?] = [nil]

    func add(_ fence: Arrangement.Fence?) -> Int {
      fences.append(fence)
      return fences.count - 1
    }
  }

  init(in order: RecordOrder?, hasSections: Bool) {
    self.order = order
    self.hasSections = hasSections
  }

  // MARK: Finding

  /// Returns the index of an object, or `nil` if it isn't a result. Linear if the objects are not
  /// in the order of their keys.
  func index(of number: ObjectNumber) -> Int? {
    guard isOrdered, let order else {
      var start = 0
      var found: Int?
      arrangement.forEachLeaf { leaf in
        if found == nil, let offset = leaf.offset(of: number) { found = start + offset }
        start += leaf.count
      }
      return found
    }
    guard let word = leaves.places[number] else { return nil }
    let (leaf, start) = arrangement.leaf(for: leaves.fences[Int(word)], in: order)
    return leaf.offset(of: number).map { start + $0 }
  }

  /// Returns the index of each object, or `nil` for those that aren't results.
  func indices(of numbers: [ObjectNumber]) -> [Int?] {
    guard isMany(numbers.count) else { return numbers.map { index(of: $0) } }
    let indices = NumberMap(minimumCapacity: arrangement.count)
    var next: UInt = 0
    arrangement.forEachLeaf { leaf in
      for object in leaf.objects {
        indices.set(object.number, next)
        next += 1
      }
    }
    return numbers.map { number in indices[number].map { Int($0) } }
  }

  /// Whether looking up or changing a number of objects takes longer than passing by all.
  private func isMany(_ count: Int) -> Bool { count * 20 >= arrangement.count }

  // MARK: Changing

  /// Replaces all objects.
  ///
  /// - Parameters:
  ///   - objects: The objects in their order.
  ///   - isSorted: Whether that is meant to be the order of the keys.
  ///   - key: Returns the key of an object. Not called without an order.
  mutating func replace<E: Error>(
    with objects: [ManagedObject], isSorted: Bool,
    key: (ManagedObject) throws(E) -> RecordOrder.Key?
  ) throws(E) {
    var builder = Builder(self)
    var isOrdered = isSorted && order != nil
    var last: Row?
    for object in objects {
      guard let key = try key(object), let order else {
        builder.append(object, nil, isStart: false)
        continue
      }
      if isOrdered, let last {
        let order = order.compare(last.key, key)
        isOrdered = order == .less || order == .equal && last.object.number < object.number
      }
      let row = Row(object: object, key: key)
      builder.append(object, key, isStart: startsSection(row, after: last))
      last = row
    }
    take(builder.finish(), isOrdered: isOrdered)
  }

  /// Removes the objects at some indices, and inserts rows.
  ///
  /// - Parameters:
  ///   - leaving: The indices in ascending order.
  ///   - arriving: The rows in their order.
  /// - Returns: The new indices of the rows.
  mutating func change(leaving: [Int], arriving: [Row]) -> [Int] {
    guard !isMany(leaving.count + arriving.count) else {
      return rebuild(leaving: leaving, arriving: arriving)
    }
    for index in leaving.reversed() {
      leaves.places.remove(arrangement.remove(at: index).number)
    }
    defer { if isSparse { _ = rebuild(leaving: [], arriving: []) } }
    return arriving.map { insert($0) }
  }

  /// Whether the leaves have become too many for the objects.
  private var isSparse: Bool {
    leaves.fences.count > 16 && arrangement.count < leaves.fences.count * 24
  }

  /// Inserts a row. Returns its index.
  private mutating func insert(_ row: Row) -> Int {
    guard let order else { return 0 }
    let fence = row.fence
    let index = arrangement.count(before: fence, in: order)
    var isStart = false
    if hasSections {
      isStart = index == 0 || !isSection(at: index - 1, of: row, order)
      if isStart, index < arrangement.count, isSection(at: index, of: row, order) {
        arrangement.setStart(false, at: index)
      }
    }
    let change = arrangement.insert(row.object, at: fence, isStart: isStart, in: order) {
      leaves.add(nil)
    }
    if let split = change.split {
      leaves.fences[split.node.leaf] = split.fence
      for object in split.node.objects {
        leaves.places.set(object.number, UInt(split.node.leaf))
      }
    }
    leaves.places.set(row.object.number, UInt(change.leaf.leaf))
    return index
  }

  /// Changes many rows by passing by all. Linear, apart from comparisons.
  private mutating func rebuild(leaving: [Int], arriving: [Row]) -> [Int] {
    guard let order else { return [] }
    var builder = Builder(self)
    var indices: [Int] = []
    var (left, arrived) = (leaving[...], arriving[...])
    /// The last row, if it is new.
    var last: Row?
    /// Whether objects since the last one that stays left, one of which started a section.
    var isStartMissing = false
    func arrive(_ row: Row, after neighbour: (keys: KeyList, offset: Int)?) {
      var isStart = false
      if hasSections {
        isStart =
          if let last { !isSameSection(last, row, order) } else if let neighbour {
            !order.isSection(of: neighbour.keys, neighbour.offset, row.key)
          } else { true }
      }
      indices.append(builder.count)
      builder.append(row.object, row.key, isStart: isStart)
      last = row
    }
    var neighbour: (keys: KeyList, offset: Int)?
    var index = 0
    arrangement.forEachLeaf { leaf in
      for (offset, object) in leaf.objects.enumerated() {
        let isStart = leaf.isStart(offset)
        if left.first == index {
          left.removeFirst()
          isStartMissing = isStartMissing || isStart
        } else {
          while let row = arrived.first,
            order.compare(leaf.keys, offset, object.number, to: row.key, row.object.number)
              == .greater
          {
            arrive(row, after: neighbour)
            arrived.removeFirst()
          }
          var startsSection = isStart || isStartMissing
          if hasSections, let last {
            startsSection = !order.isSection(of: leaf.keys, offset, last.key)
          }
          builder.append(object, leaf.keys[offset], isStart: startsSection)
          neighbour = (leaf.keys, offset)
          last = nil
          isStartMissing = false
        }
        index += 1
      }
    }
    for row in arrived { arrive(row, after: neighbour) }
    take(builder.finish(), isOrdered: true)
    return indices
  }

  private mutating func take(_ built: (Arrangement, Leaves), isOrdered: Bool) {
    (arrangement, leaves) = built
    self.isOrdered = isOrdered
  }

  // MARK: Sections

  private func startsSection(_ row: Row, after last: Row?) -> Bool {
    guard hasSections, let order else { return false }
    return last.map { !isSameSection($0, row, order) } ?? true
  }

  private func isSection(at index: Int, of row: Row, _ order: RecordOrder) -> Bool {
    let (leaf, offset) = arrangement.place(of: index)
    return order.isSection(of: leaf.keys, offset, row.key)
  }

  private func isSameSection(_ left: Row, _ right: Row, _ order: RecordOrder) -> Bool {
    var keys = KeyList()
    keys.append(left.key)
    return order.isSection(of: keys, 0, right.key)
  }

  // MARK: Building

  /// Builds an arrangement from its rows in order.
  private struct Builder {
    private static let leafSize = 96
    private static let childCount = 24

    private let leaves = Leaves()
    private let isOrdered: Bool
    private var full: [Arrangement.Node] = []
    private var leaf = Arrangement.Node(leaf: 0)
    private(set) var count = 0

    init(_ rows: ArrangedRows) {
      isOrdered = rows.order != nil
      leaves.places.reserveCapacity(rows.arrangement.count)
    }

    mutating func append(_ object: ManagedObject, _ key: RecordOrder.Key?, isStart: Bool) {
      if leaf.count == Self.leafSize {
        leaf.compact()
        full.append(leaf)
        leaf = Arrangement.Node(leaf: leaves.add(key.map { .init(key: $0, number: object.number) }))
      }
      leaf.append(object, key, isStart: isStart)
      if isOrdered { leaves.places.set(object.number, UInt(leaf.leaf)) }
      count += 1
    }

    consuming func finish() -> (Arrangement, Leaves) {
      var nodes = full + [leaf]
      var fences = leaves.fences
      while nodes.count > 1 {
        var above: [Arrangement.Node] = []
        var fencesAbove: [Arrangement.Fence?] = []
        for start in stride(from: 0, to: nodes.count, by: Self.childCount) {
          let range = start..<min(start + Self.childCount, nodes.count)
          fencesAbove.append(fences[start])
          fences[start] = nil
          above.append(
            Arrangement.Node(
              children: ContiguousArray(nodes[range]), fences: ContiguousArray(fences[range])))
        }
        (nodes, fences) = (above, fencesAbove)
      }
      return (Arrangement(root: nodes[0]), leaves)
    }
  }
}
