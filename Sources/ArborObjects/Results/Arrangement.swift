internal import ArborModel
internal import ArborStore

/// An ordered collection of objects with their sort keys and sections: a counted B+ tree.
///
/// ```
/// root     count of each child · section starts in each child · fence of each child
///   …
/// leaf     objects · keys · a bit for each object that starts a section
/// ```
///
/// A copy is made in constant time and stays as it is, because nodes that are shared are copied
/// before they are changed. Everything except a traversal takes logarithmic time.
///
/// Leaves are split but never joined. A list that has become much smaller is rebuilt by
/// ``ArrangedRows``.
struct Arrangement {
  /// Where a leaf begins: no key and number in it is less, and those in leaves before it are less.
  struct Fence {
    let key: RecordOrder.Key
    let number: ObjectNumber
  }

  fileprivate static let maximumLeafSize = 128
  fileprivate static let maximumChildren = 32

  private(set) var root: Node

  init() { root = Node(leaf: 0) }

  init(root: Node) { self.root = root }

  var count: Int { root.count }

  /// The number of sections, or 0 if no object starts one.
  var sectionCount: Int { root.sectionCount }

  subscript(index: Int) -> ManagedObject {
    let (leaf, offset) = place(of: index)
    return leaf.objects[offset]
  }

  /// Returns the key of the object at an index.
  func key(at index: Int) -> RecordOrder.Key {
    let (leaf, offset) = place(of: index)
    return leaf.keys[offset]
  }

  /// Returns the leaf that contains an index, and the offset in it.
  func place(of index: Int) -> (leaf: Node, offset: Int) {
    guard index >= 0 && index < count else {
      stopProgram("Index \(index) is out of range. The results have the indices 0..<\(count).")
    }
    var (node, rest) = (root, index)
    while !node.isLeaf { node = node.children[node.descend(&rest)] }
    return (node, rest)
  }

  /// All objects as one array. Linear time.
  var objects: [ManagedObject] {
    var objects: [ManagedObject] = []
    objects.reserveCapacity(count)
    forEachLeaf { objects += $0.objects }
    return objects
  }

  /// Calls `body` with every leaf, in order.
  func forEachLeaf(_ body: (Node) -> Void) { root.forEachLeaf(body) }

  /// Returns the number of leading objects that precede a key and number.
  func count(before fence: Fence, in order: RecordOrder) -> Int {
    let (leaf, start) = leaf(for: fence, in: order)
    return start + leaf.count(before: fence, in: order)
  }

  /// Returns the leaf to which a key and number belong, and the index of its first object. The keys
  /// must be in order.
  ///
  /// - Parameter fence: The key and number, or `nil` for the first leaf.
  func leaf(for fence: Fence?, in order: RecordOrder) -> (leaf: Node, start: Int) {
    var (node, start) = (root, 0)
    while !node.isLeaf {
      let child = fence.map { node.child(for: $0, in: order) } ?? 0
      start += node.counts[..<child].reduce(0, +)
      node = node.children[child]
    }
    return (node, start)
  }

  // MARK: Sections

  /// Returns the index of the section that contains the object at an index.
  func section(at index: Int) -> Int {
    var (node, rest, section) = (root, index, -1)
    while !node.isLeaf {
      let child = node.descend(&rest)
      section += node.sectionCounts[..<child].reduce(0, +)
      node = node.children[child]
    }
    return section + node.starts(through: rest)
  }

  /// Returns the indices of a section's objects.
  func range(ofSection section: Int) -> Range<Int> {
    start(ofSection: section)..<(section + 1 < sectionCount ? start(ofSection: section + 1) : count)
  }

  private func start(ofSection section: Int) -> Int {
    var (node, rest, start) = (root, section, 0)
    while !node.isLeaf {
      var child = 0
      while rest >= node.sectionCounts[child] {
        rest -= node.sectionCounts[child]
        start += node.counts[child]
        child += 1
      }
      node = node.children[child]
    }
    return start + node.offset(ofStart: rest)
  }

  /// The indices of the objects that start a section. Linear in the number of sections.
  var sectionStarts: [Int] {
    var starts: [Int] = []
    starts.reserveCapacity(sectionCount)
    root.addStarts(from: 0, to: &starts)
    return starts
  }

  // MARK: Changes

  /// Sets whether the object at an index starts a section.
  mutating func setStart(_ isStart: Bool, at index: Int) {
    own(&root)
    root.setStart(isStart, at: index)
  }

  /// Removes the object at an index. The next object takes over the start of the section.
  mutating func remove(at index: Int) -> ManagedObject {
    let (leaf, offset) = place(of: index)
    let isStart = leaf.isStart(offset)
    own(&root)
    let object = root.remove(at: index)
    if isStart, index < count { setStart(true, at: index) }
    return object
  }

  /// Inserts an object. Returns its leaf, and the new leaf if one was split.
  mutating func insert(
    _ object: ManagedObject, at fence: Fence, isStart: Bool, in order: RecordOrder,
    newLeaf: () -> Int
  ) -> (leaf: Node, split: Node.Split?) {
    own(&root)
    var change = Node.Insertion(object: object, fence: fence, isStart: isStart, order: order)
    let split = root.insert(&change, newLeaf: newLeaf)
    if let split { root = Node(children: [root, split.node], fences: [nil, split.fence]) }
    return (change.leaf ?? root, change.split)
  }
}

/// Makes a node safe to change.
@inline(__always)
private func own(_ node: inout Arrangement.Node) {
  if !isKnownUniquelyReferenced(&node) { node = node.copy() }
}

// MARK: - Nodes

extension Arrangement {
  /// A leaf or an inner node. One class for both, so that a node can be changed in its parent.
  final class Node {
    let isLeaf: Bool
    /// A number that copies of a leaf share.
    let leaf: Int
    private(set) var count = 0
    private(set) var sectionCount = 0

    // Of a leaf.
    private(set) var objects: ContiguousArray<ManagedObject> = []
    private(set) var keys = KeyList()
    private var starts: UInt128 = 0

    // Of an inner node.
    fileprivate var children: ContiguousArray<Node> = []
    fileprivate var counts: ContiguousArray<Int> = []
    fileprivate var sectionCounts: ContiguousArray<Int> = []
    /// The fence of each child, or `nil` for the first, which also has everything before it.
    fileprivate var fences: ContiguousArray<Fence?> = []

    struct Split {
      let node: Node
      let fence: Fence
    }

    struct Insertion {
      let object: ManagedObject
      let fence: Fence
      let isStart: Bool
      let order: RecordOrder
      /// The leaf that now contains the object.
      var leaf: Node?
      /// The leaf that was created, and its fence.
      var split: Split?
    }

    init(leaf: Int) {
      isLeaf = true
      self.leaf = leaf
    }

    init(children: ContiguousArray<Node>, fences: ContiguousArray<Fence?>) {
      isLeaf = false
      leaf = -1
      self.children = children
      self.fences = fences
      counts = ContiguousArray(children.map(\.count))
      sectionCounts = ContiguousArray(children.map(\.sectionCount))
      count = counts.reduce(0, +)
      sectionCount = sectionCounts.reduce(0, +)
    }

    private init(copying other: Node) {
      isLeaf = other.isLeaf
      leaf = other.leaf
      count = other.count
      sectionCount = other.sectionCount
      objects = other.objects
      keys = other.keys
      starts = other.starts
      children = other.children
      counts = other.counts
      sectionCounts = other.sectionCounts
      fences = other.fences
    }

    func copy() -> Node { Node(copying: self) }

    // MARK: Descending

    /// Returns the child that contains an index, which becomes relative to the child.
    @inline(__always)
    fileprivate func descend(_ index: inout Int) -> Int {
      var child = 0
      while index >= counts[child] {
        index -= counts[child]
        child += 1
      }
      return child
    }

    /// Returns the child to which a key and number belong.
    fileprivate func child(for fence: Fence, in order: RecordOrder) -> Int {
      let tail = fences[1...]
      let next = tail.partitioningIndex { other in
        guard let other else { return false }
        return switch order.compare(other.key, fence.key) {
        case .less: false
        case .greater: true
        case .equal: other.number > fence.number
        }
      }
      return next - 1
    }

    /// Returns the number of objects of a leaf that precede a key and number.
    fileprivate func count(before fence: Fence, in order: RecordOrder) -> Int {
      objects.indices.partitioningIndex { index in
        order.compare(keys, index, objects[index].number, to: fence.key, fence.number) != .less
      }
    }

    fileprivate func forEachLeaf(_ body: (Node) -> Void) {
      if isLeaf { return body(self) }
      for child in children { child.forEachLeaf(body) }
    }

    /// Returns the offset of an object in a leaf, or `nil` if another leaf contains it.
    func offset(of number: ObjectNumber) -> Int? { objects.firstIndex { $0.number == number } }

    // MARK: Sections

    func isStart(_ offset: Int) -> Bool { starts >> UInt128(offset) & 1 != 0 }

    /// Returns the number of section starts up to and including an offset of a leaf.
    fileprivate func starts(through offset: Int) -> Int {
      (starts & Self.mask(offset + 1)).nonzeroBitCount
    }

    /// Returns the offset of a section start in a leaf.
    fileprivate func offset(ofStart rank: Int) -> Int {
      var rest = starts
      for _ in 0..<rank { rest &= rest - 1 }
      return rest.trailingZeroBitCount
    }

    fileprivate func addStarts(from first: Int, to list: inout [Int]) {
      guard sectionCount > 0 else { return }
      guard !isLeaf else {
        var rest = starts
        while rest != 0 {
          list.append(first + rest.trailingZeroBitCount)
          rest &= rest - 1
        }
        return
      }
      var first = first
      for (child, count) in zip(children, counts) {
        child.addStarts(from: first, to: &list)
        first += count
      }
    }

    /// The bits below an offset.
    private static func mask(_ offset: Int) -> UInt128 {
      offset >= UInt128.bitWidth ? .max : 1 << UInt128(offset) - 1
    }

    // MARK: Changes

    /// Adds an object to a leaf that belongs to no arrangement yet.
    func append(_ object: ManagedObject, _ key: RecordOrder.Key?, isStart: Bool) {
      if isStart {
        starts |= 1 << UInt128(count)
        sectionCount += 1
      }
      objects.append(object)
      if let key { keys.append(key) }
      count += 1
    }

    /// Releases memory that a leaf reserved for more objects.
    func compact() {
      objects = ContiguousArray(objects[...])
      keys.compact()
    }

    fileprivate func setStart(_ isStart: Bool, at index: Int) {
      guard isLeaf else {
        var rest = index
        let child = descend(&rest)
        own(&children[child])
        children[child].setStart(isStart, at: rest)
        return update(child)
      }
      let bit: UInt128 = 1 << UInt128(index)
      if isStart { starts |= bit } else { starts &= ~bit }
      sectionCount = starts.nonzeroBitCount
    }

    fileprivate func remove(at index: Int) -> ManagedObject {
      guard isLeaf else {
        var rest = index
        let child = descend(&rest)
        own(&children[child])
        let object = children[child].remove(at: rest)
        update(child)
        return object
      }
      let below = Self.mask(index)
      starts = starts & below | (starts >> 1) & ~below
      sectionCount = starts.nonzeroBitCount
      count -= 1
      keys.remove(at: index)
      return objects.remove(at: index)
    }

    fileprivate func insert(_ change: inout Insertion, newLeaf: () -> Int) -> Split? {
      isLeaf ? insertHere(&change, newLeaf: newLeaf) : insertBelow(&change, newLeaf: newLeaf)
    }

    private func insertBelow(_ change: inout Insertion, newLeaf: () -> Int) -> Split? {
      let child = child(for: change.fence, in: change.order)
      own(&children[child])
      let split = children[child].insert(&change, newLeaf: newLeaf)
      update(child)
      guard let split else { return nil }
      children.insert(split.node, at: child + 1)
      fences.insert(split.fence, at: child + 1)
      counts.insert(split.node.count, at: child + 1)
      sectionCounts.insert(split.node.sectionCount, at: child + 1)
      count += split.node.count
      sectionCount += split.node.sectionCount
      guard children.count > Arrangement.maximumChildren else { return nil }
      let half = children.count / 2
      guard let fence = fences[half] else { return nil }
      let node = Node(
        children: ContiguousArray(children[half...]), fences: ContiguousArray(fences[half...]))
      node.fences[0] = nil
      children.removeSubrange(half...)
      fences.removeSubrange(half...)
      counts.removeSubrange(half...)
      sectionCounts.removeSubrange(half...)
      count -= node.count
      sectionCount -= node.sectionCount
      return Split(node: node, fence: fence)
    }

    private func insertHere(_ change: inout Insertion, newLeaf: () -> Int) -> Split? {
      let offset = count(before: change.fence, in: change.order)
      guard count == Arrangement.maximumLeafSize else {
        insert(change, at: offset)
        change.leaf = self
        return nil
      }
      // An object at the end of all usually is the first of many.
      let half = offset == count ? count : count / 2
      let node = Node(leaf: newLeaf())
      node.objects = ContiguousArray(objects[half...])
      node.keys = keys.split(at: half)
      node.count = count - half
      node.starts = half == count ? 0 : starts >> UInt128(half)
      node.sectionCount = node.starts.nonzeroBitCount
      objects.removeSubrange(half...)
      starts &= Self.mask(half)
      count = half
      sectionCount = starts.nonzeroBitCount
      let isAfter = offset >= half
      let target = isAfter ? node : self
      target.insert(change, at: isAfter ? offset - half : offset)
      change.leaf = target
      let split = Split(
        node: node, fence: Fence(key: node.keys[0], number: node.objects[0].number))
      change.split = split
      return split
    }

    private func insert(_ change: Insertion, at offset: Int) {
      objects.insert(change.object, at: offset)
      keys.insert(change.fence.key, at: offset)
      let below = Self.mask(offset)
      starts = starts & below | (starts & ~below) << 1
      if change.isStart { starts |= 1 << UInt128(offset) }
      count += 1
      sectionCount = starts.nonzeroBitCount
    }

    /// Updates the sums after a child has changed.
    private func update(_ child: Int) {
      let node = children[child]
      count += node.count - counts[child]
      sectionCount += node.sectionCount - sectionCounts[child]
      counts[child] = node.count
      sectionCounts[child] = node.sectionCount
    }
  }
}
