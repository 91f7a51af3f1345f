import ArborModel
import ArborObjects
import Foundation
import TestSupport

/// A random history of several contexts with different merge policies on one store, whose changes
/// are also applied to dictionaries; see ``PlainMerge``.
struct MergeHistory {
  typealias State = PlainMerge.State
  typealias Policy = TestedPolicy

  /// A context and its dictionaries.
  struct Member {
    let context: ManagedObjectContext
    var policy = Policy.automatic(.objectWins)
    var isAutomatic = true
    var base = State()
    var mine = State()
    /// The number of commits that `base` contains.
    var sequence = 0
    var lost: Set<PlainMerge.Lost> = []
    /// The other values that attributes may have, because a value may be lost.
    var alternatives: [PlainMerge.Lost: [PropertyValue]] = [:]
    /// The context's objects, which would be read anew if nothing held them.
    var held: [ManagedObject] = []
    var touched: Set<Int> = []
    /// The objects that the context has deleted since the last commit.
    var deleted: Set<Int> = []
    /// The newest values of objects whose conflicts are left to the commit, as last merged.
    var seen: [Int: PlainMerge.Item] = [:]
    /// The changes that these objects had by then.
    var early: [Int: PlainMerge.Item] = [:]
    /// The states before the undo groups since the last merge.
    var undo: [State] = []
    /// Albums whose order other commits have changed, too, since the context's last commit.
    var orders: Set<Int> = []
    /// The links and albums changed since the last commit. The context's last change of a link
    /// counts, so changing it back isn't the same as leaving it alone.
    var links: Set<PlainMerge.Link> = []
    var albums: Set<Int> = []
  }

  private struct Kept: Hashable {
    let process: Int
    let key: Int
    let name: String
    let value: PropertyValue
  }

  /// What the harness deliberately leaves out of the dictionaries, for negative controls.
  enum Fault: Codable { case none, wrongRule, withheldEdit }

  var members: [Member]
  var stored = State()
  var sequence = 0
  var ids: [Int: ObjectID] = [:]
  private var nextKey = 1
  private var nextValue = 1
  private var random: SeededRandom
  private let seed: UInt64
  private let fault: Fault
  /// Whether some commits change so many objects that the store's history doesn't list them.
  private let hasBulk: Bool
  /// The process that has the other half of the contexts, if there are two. The contexts of the other
  /// process are unused in this one, but their dictionaries are the same in both.
  private let partner: MergePartner?
  /// The removed large values that a process keeps, because contexts have changed their objects.
  private var kept: Set<Kept> = []
  private var lastVersion = 0
  /// The objects of the last large commit, which the next one deletes.
  private var fillers: [ObjectID] = []
  private var log: [String] = []

  init(
    _ store: PersistentStore, contexts count: Int, seed: UInt64, hasBulk: Bool = false,
    fault: Fault = .none, partner: MergePartner? = nil
  ) {
    members = (0..<count).map { _ in
      let member = Member(context: store.makeContext())
      member.context.undoHistory = UndoHistory()
      return member
    }
    self.seed = seed
    self.fault = fault
    self.hasBulk = hasBulk
    self.partner = partner
    random = SeededRandom(seed: seed)
  }

  /// Runs some rounds, in each of which every context changes objects and commits.
  mutating func run(rounds: Int) throws {
    do {
      try populate()
      for _ in 0..<rounds { try round() }
    } catch let error as ArborError {
      throw difference("\(error.code): \(error.message) \(error.violations)")
    }
  }

  private mutating func round() throws {
    for index in members.indices {
      let policy = Policy.all.randomElement(using: &random) ?? .error
      let isAutomatic = Int.random(in: 0..<3, using: &random) > 0
      _ = try members[index].context.mergeExternalCommits()
      sync(index)
      members[index].policy = policy
      members[index].isAutomatic = isAutomatic
      members[index].context.mergePolicy = policy.policy
      members[index].context.automaticallyMergesCommits = isAutomatic
      try compare(index, isSettled: true)
      try hold(index)
      log.append("\(index): policy \(policy)\(isAutomatic ? "" : ", merging only at commits")")
    }
    for _ in 0..<Int.random(in: 2...10, using: &random) {
      try step(members.indices.randomElement(using: &random) ?? 0)
    }
    for index in members.indices.shuffled(using: &random) { try commit(index) }
    for index in members.indices { try compare(index, isSettled: true) }
  }

  private mutating func step(_ index: Int) throws {
    if members[index].isAutomatic {
      _ = try members[index].context.count("Tag")
      sync(index)
    }
    switch Int.random(in: 0..<20, using: &random) {
    case 0..<2: try commit(index)
    case 2..<5 where !members[index].undo.isEmpty && isCurrent(index): try undo(index)
    default: try group(index)
    }
    if members[index].isAutomatic { try compare(index, isSettled: false) }
  }

  /// Whether a context is one of this process.
  private func owns(_ index: Int) -> Bool { partner?.owns(index) ?? true }

  /// Returns what a step of a context returns, also in the process without this context.
  private func result(_ index: Int, of step: () throws -> String) throws -> String {
    guard owns(index) else { return try partner?.receive() ?? "" }
    let result = try step()
    try partner?.send(result)
    return result
  }

  /// Whether a context has merged all commits.
  private func isCurrent(_ index: Int) -> Bool { members[index].sequence == sequence }

  // MARK: Merging

  /// The column of the table for a context's policy, or a wrong one.
  private func side(_ index: Int) -> TestedPolicy.Side {
    let side = members[index].policy.side
    return fault == .wrongRule && side == .objectWins ? .storeWins : side
  }

  /// Merges the newest commits into a context's dictionaries.
  private mutating func sync(_ index: Int) {
    guard members[index].sequence != sequence else { return }
    members[index].undo = []
    members[index].deleted.formUnion(
      members[index].base.items.keys.filter { members[index].mine.items[$0] == nil })
    for key in members[index].deleted where members[index].base.items[key] == nil {
      // It is deleted again if another commit restores it.
      members[index].base.items[key] = stored.items[key]
      members[index].base.items[key]?.version = -1
    }
    let member = members[index]
    let result = PlainMerge.merge(
      base: member.base, mine: member.mine, theirs: stored,
      { _ in member.policy.mergesAtOnce ? side(index) : .objectWins }, lost: member.lost,
      isFinal: false)
    members[index].mine = result.state
    for (value, other) in result.alternatives {
      members[index].alternatives[value, default: []].append(other)
    }
    members[index].base = stored
    // The context's own changes of links remain its own if others make the same.
    let (own, former) = (member.mine.tags, member.base.tags)
    members[index].base.tags.subtract(own.subtracting(former))
    members[index].base.tags.formUnion(
      former.subtracting(own).filter {
        stored.items[$0.card] != nil && stored.items[$0.tag] != nil
      })
    for (album, pages) in member.mine.pages {
      let added = Set(pages).subtracting(member.base.pages[album] ?? [])
      members[index].base.pages[album]?.removeAll { added.contains($0) }
    }
    if !member.policy.mergesAtOnce {
      for key in member.mine.items.keys where member.base.items[key] == nil {
        members[index].base.items[key] = nil
        members[index].mine.items[key] = member.mine.items[key]
      }
    }
    members[index].sequence = sequence
    members[index].orders.formUnion(result.orders)
    keepConflicts(index, member.base, result)
    for key in result.state.items.keys {
      guard let before = member.base.items[key], let own = member.mine.items[key],
        !own.agrees(with: before)
      else { continue }
      if stored.items[key] == nil {
        members[index].base.items[key] = before
      } else if !member.policy.mergesAtOnce, result.contested.contains(key) {
        // The commit detects and resolves the conflict.
        members[index].base.items[key] = before
        members[index].mine.items[key] = own
        if members[index].seen[key]?.version != stored.items[key]?.version {
          members[index].early[key] = own
        }
        members[index].seen[key] = stored.items[key]
      }
    }
  }

  /// Keeps the conflicts of pending deletions for the commit: merged changes of deleted objects, and
  /// new links to them, as long as they exist.
  private mutating func keepConflicts(_ index: Int, _ base: State, _ result: PlainMerge.Result) {
    let hidden = result.hidden
    for key in hidden where result.contested.contains(key) {
      let isLinked = stored.items.contains {
        $0.value.parent == key && base.items[$0.key]?.parent != key
      }
      if isLinked || stored.items[key]?.version != base.items[key]?.version {
        members[index].base.items[key]?.version = -1
      }
      // A link between two deleted objects counts if the commit keeps one of them.
      if let parent = stored.items[key]?.parent, hidden.contains(parent) {
        members[index].base.items[key]?.parent = base.items[key]?.parent
      }
    }
    let tags = stored.tags.subtracting(base.tags).filter {
      hidden.contains($0.card) || hidden.contains($0.tag)
    }
    members[index].base.tags.subtract(tags)
    members[index].mine.tags.subtract(tags)
    for (album, pages) in stored.pages {
      let new = Set(pages).subtracting(base.pages[album] ?? []).filter {
        hidden.contains(album) || hidden.contains($0)
      }
      members[index].base.pages[album]?.removeAll { new.contains($0) }
      members[index].mine.pages[album]?.removeAll { new.contains($0) }
    }
  }

  /// The state that a context displays.
  private func display(_ index: Int) -> State {
    var state = shown(index)
    state.dropLinksToMissing()
    return state
  }

  /// The state that a context displays, with references to objects whose deletion is pending.
  private func shown(_ index: Int) -> State {
    let member = members[index]
    var state = member.mine
    if !member.policy.mergesAtOnce, member.isAutomatic {
      state =
        PlainMerge.merge(
          base: member.base, mine: member.mine, theirs: stored, { _ in .objectWins },
          isFinal: false
        ).state
    }
    return state
  }

  private mutating func commit(_ index: Int) throws {
    log.append("\(index): commit")
    let context = members[index].context
    if members[index].isAutomatic { sync(index) }
    forgetLostConflicts(index)
    let hasHooked = echo(index)
    let (policy, base) = (members[index].policy, members[index].base)
    let result = PlainMerge.merge(
      base: base, mine: members[index].mine, theirs: stored, { _ in side(index) },
      lost: members[index].lost, seen: members[index].seen,
      dropsFirst: members[index].isAutomatic && !policy.mergesAtOnce)
    let lostLinks = hasLostLinks(index)
    let expectsConflict =
      policy == .error && (lostLinks || result.contested.contains { !hasSameChange(index, $0) })
    let mayConflict = policy == .error || result.needsLost
    let isBulk = hasBulk && Int.random(in: 0..<6, using: &random) == 0
    let added = isBulk ? try fill(context) : []
    try partner?.meet()
    let outcome = try self.result(index) {
      do throws(ArborError) { try context.commit() } catch {
        guard error.code == .conflict, expectsConflict || mayConflict else { throw error }
        return "conflict"
      }
      return ""
    }
    let hasThrown = !outcome.isEmpty
    guard hasThrown || !expectsConflict else {
      throw difference("\(index): the commit ignored the conflict of \(result.contested)")
    }
    let orders = result.orders.union(members[index].orders)
    let alternatives = members[index].alternatives.merging(
      result.alternatives.mapValues { [$0] }, uniquingKeysWith: +)
    let isAsDecided =
      alternatives.isEmpty && result.state.agrees(with: members[index].mine)
    members[index].lost = []
    members[index].alternatives = [:]
    members[index].seen = [:]
    members[index].early = [:]
    members[index].deleted = []
    let released = members[index].touched
    members[index].touched = []
    defer { release(released, of: index) }
    members[index].orders = []
    members[index].links = []
    members[index].albums = []
    guard !hasThrown else {
      guard context.hasChanges || !owns(index) else {
        throw difference("\(index): lost its changes")
      }
      log.append("\(index): conflict, rollback")
      context.rollback()
      members[index].undo = []
      _ = try context.mergeExternalCommits()
      (members[index].base, members[index].mine) = (stored, stored)
      members[index].sequence = sequence
      return
    }
    if isBulk { fillers = added }
    if hasHooked || isBulk || !isAsDecided || members[index].sequence != sequence {
      members[index].undo = []
      context.undoHistory?.removeAll()
    }
    var state = result.state
    try adopt(&state, index, uncertain: orders)
    try adopt(&state, index, alternatives)
    let changed = Set(state.items.keys).union(stored.items.keys).filter { key in
      guard let item = state.items[key], let former = stored.items[key] else { return true }
      return !item.agrees(with: former) || state.pages[key] != stored.pages[key]
    }
    sequence += 1
    for key in changed {
      lastVersion += 1
      state.items[key]?.version = lastVersion
    }
    keepRemoved(by: index, state)
    stored = state
    // Otherwise, it would go on with the former values of other objects.
    if !members[index].isAutomatic, owns(index) { _ = try context.mergeExternalCommits() }
    try hold(index)
    (members[index].base, members[index].mine) = (stored, stored)
    members[index].sequence = sequence
    for other in members.indices where owns(other) != owns(index) {
      for key in members[other].touched { noteLost(other, key) }
    }
  }

  /// Holds and reads all objects of a context.
  private mutating func hold(_ index: Int) throws {
    guard owns(index) else { return }
    members[index].held = try stored.items.map { key, item in
      let object = try object(key, members[index].context)
      if let name = Self.names(of: item.entity).first { _ = object[name] as PropertyValue }
      return object
    }
  }

  /// Whether a context has made no other changes of an object than other commits. An undo may have
  /// forgotten that conflict.
  private func hasSameChange(_ index: Int, _ key: Int) -> Bool {
    guard let before = members[index].base.items[key], let own = members[index].mine.items[key],
      let other = stored.items[key]
    else { return false }
    return (own.parent == before.parent || own.parent == other.parent)
      && Set(own.values.keys).union(before.values.keys).allSatisfy {
        own[$0] == before[$0] || own[$0] == other[$0]
      }
  }

  /// Forgets conflicts of objects whose only change in the context is dropped: a link to an object
  /// that another commit has deleted. Later changes are based on the newer values.
  private mutating func forgetLostConflicts(_ index: Int) {
    for (key, early) in members[index].early {
      guard let seen = members[index].seen[key], let before = members[index].base.items[key],
        var own = members[index].mine.items[key], let parent = early.parent,
        parent != before.parent, own.parent == parent, before.parent == nil, seen.parent == nil,
        stored.items[parent] == nil, members[index].mine.items[parent] == nil,
        early.values == before.values
      else { continue }
      own.parent = nil
      members[index].base.items[key] = seen
      members[index].mine.items[key] = PlainMerge.merge(before, own, seen, .objectWins)
    }
  }

  /// Deletes the objects of the last large commit, or inserts as many as a large commit needs if there
  /// are none. Returns the new ones.
  private mutating func fill(_ context: ManagedObjectContext) throws -> [ObjectID] {
    log.append("\(fillers.isEmpty ? "insert" : "delete") many objects")
    for id in fillers { try context.delete(context.object(with: id)) }
    guard fillers.isEmpty else { return [] }
    return try (0..<10_001).map { _ in try context.insert("Filler").objectID }
  }

  /// Takes the order of contested albums from the store.
  private func adopt(_ state: inout State, _ index: Int, uncertain: Set<Int>) throws {
    // In the same order in both processes.
    for album in uncertain.sorted() where state.items[album] != nil {
      let found = try result(index) {
        try pages(of: album, members[index].context).map(String.init).joined(separator: " ")
      }.split(separator: " ").compactMap { Int($0) }
      guard Set(found) == Set(state.pages[album] ?? []), found.count == state.pages[album]?.count
      else { throw difference("\(index): \(album).pages is \(found)") }
      state.pages[album] = found
    }
  }

  /// Takes values that may be lost from the store.
  private func adopt(
    _ state: inout State, _ index: Int, _ alternatives: [PlainMerge.Lost: [PropertyValue]]
  ) throws {
    // In the same order in both processes.
    for (lost, others) in alternatives.sorted(by: {
      ($0.key.key, $0.key.name) < ($1.key.key, $1.key.name)
    }) {
      guard let expected = state.items[lost.key]?[lost.name] else { continue }
      let values = [expected] + others
      let found = try result(index) {
        let found = try value(lost.name, of: object(lost.key, members[index].context))
        return values.firstIndex(of: found).map(String.init) ?? Self.text(found)
      }
      guard let place = Int(found) else {
        throw difference("\(index): \(lost.key).\(lost.name) is \(found)")
      }
      state.items[lost.key]?[lost.name] = values[place]
    }
  }

  private func value(_ name: String, of object: ManagedObject) -> PropertyValue {
    guard name == "labels" else { return object[name] }
    guard let labels = (object as? MergeCard)?.labels else { return .null }
    return .list(labels.map { .string($0) })
  }

  private func pages(of album: Int, _ context: ManagedObjectContext) throws -> [Int] {
    try object(album, context).objects(forKey: "pages").fetch().map { page in
      ids.first { $0.value == page.objectID }?.key ?? 0
    }
  }

  /// Does what the hook of the cards does.
  private mutating func echo(_ index: Int) -> Bool {
    var hasChanged = false
    let display = display(index)
    for (key, item) in display.items where item.entity == "Card" {
      let former = members[index].base.items[key]
      let isBehind = members[index].policy.mergesAtOnce || !members[index].isAutomatic
      let current = isBehind ? former : stored.items[key] ?? former
      let note = item["note"]
      let isNew = former == nil
      guard isNew ? !note.isNull : note != (current?["note"] ?? .null),
        members[index].mine.items[key] != nil
      else { continue }
      guard item["echo"] != note else { continue }
      members[index].mine.items[key]?["echo"] = note
      hasChanged = true
    }
    return hasChanged
  }

  /// Whether the context has added links to objects that other commits have deleted.
  private func hasLostLinks(_ index: Int) -> Bool {
    let (base, mine) = (members[index].base, members[index].mine)
    return base.items.keys.contains { key in
      stored.items[key] == nil && mine.items[key] != nil && mine.hasNewLinks(to: key, since: base)
    }
  }

  // MARK: Changing

  private mutating func undo(_ index: Int) throws {
    guard let before = members[index].undo.popLast() else { return }
    log.append("\(index): undo")
    let after = members[index].mine
    if owns(index) { members[index].context.undo() }
    members[index].mine = before
    members[index].links.formUnion(before.tags.symmetricDifference(after.tags))
    touch(index, since: after)
    if Bool.random(using: &random) {
      log.append("\(index): redo")
      if owns(index) { members[index].context.redo() }
      members[index].mine = after
      members[index].undo.append(before)
    }
  }

  private mutating func group(_ index: Int) throws {
    let history = members[index].context.undoHistory
    history?.closeGroup()
    let before = members[index].mine
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      let former = members[index].mine
      try edit(index)
      touch(index, since: former)
    }
    history?.closeGroup()
    if before != members[index].mine { members[index].undo.append(before) }
  }

  /// Records the first changes of objects whose large values another commit has removed.
  private mutating func touch(_ index: Int, since former: State) {
    let member = members[index]
    for (key, item) in member.mine.items {
      guard let old = former.items[key],
        !item.agrees(with: old) || member.mine.pages[key] != former.pages[key],
        members[index].touched.insert(key).inserted
      else { continue }
      noteLost(index, key)
    }
  }

  /// Records the large values of an object that another commit has removed. While an object has
  /// pending changes, only commits of another process remove them.
  private mutating func noteLost(_ index: Int, _ key: Int) {
    guard let base = members[index].base.items[key] else { return }
    for name in Self.external where Self.isLarge(base[name]) {
      let value = Kept(process: process(index), key: key, name: name, value: base[name])
      if stored.items[key]?[name] != base[name], !kept.contains(value) {
        members[index].lost.insert(.init(key: key, name: name))
      }
    }
  }

  /// The process of a context.
  private func process(_ index: Int) -> Int { partner == nil ? 0 : index % 2 }

  /// Keeps the large values that a commit removes, if other contexts of the process have changed their
  /// objects.
  private mutating func keepRemoved(by index: Int, _ state: State) {
    for (key, item) in stored.items {
      for name in Self.external where Self.isLarge(item[name]) {
        guard state.items[key]?[name] != item[name] else { continue }
        let isHeld = members.indices.contains { other in
          other != index && process(other) == process(index)
            && members[other].touched.contains(key)
        }
        if isHeld {
          kept.insert(Kept(process: process(index), key: key, name: name, value: item[name]))
        }
      }
    }
  }

  /// Releases the kept values of objects that no context of the process has changed any more.
  private mutating func release(_ keys: Set<Int>, of index: Int) {
    let process = process(index)
    let others = members.indices.filter { self.process($0) == process }
    for key in keys where !others.contains(where: { members[$0].touched.contains(key) }) {
      kept = kept.filter { $0.process != process || $0.key != key }
    }
  }

  private static let external = ["photo", "scan", "must", "labels"]

  private static func isLarge(_ value: PropertyValue) -> Bool {
    switch value {
    case .binary(let data): data.count >= 16_384
    case .list(let texts): texts.count > 1000
    default: false
    }
  }

  /// Changes objects of a context, unless it is of the other process.
  private func act(_ index: Int, _ change: (ManagedObjectContext) throws -> Void) throws {
    if owns(index) { try change(members[index].context) }
  }

  private mutating func edit(_ index: Int) throws {
    let display = display(index)
    // Links change only if all changes of others are shown as they are stored.
    let isCurrent = isCurrent(index) && display == members[index].mine
    func keys(_ entity: String) -> [Int] {
      display.items.filter { $0.value.entity == entity }.keys.sorted()
    }
    let cards = keys("Card")
    guard let card = cards.randomElement(using: &random) else { return try insert(index, "Card") }
    switch Int.random(in: 0..<(isCurrent ? 26 : 14), using: &random) {
    case 0..<12: try setValue(index, card, display)
    case 12..<14:
      guard let album = keys("Album").randomElement(using: &random) else { return }
      let title = newValue()
      log.append("\(index): \(album).title = \(title)")
      try act(index) { try object(album, $0).setValue(.string("\(title)"), forKey: "title") }
      members[index].mine.items[album]?["title"] = .string("\(title)")
    case 14..<16:
      try insert(index, ["Card", "Card", "Tag", "Album"].randomElement(using: &random) ?? "")
    case 16..<18:
      guard let key = (cards + keys("Tag") + keys("Album")).randomElement(using: &random),
        display.items.count > 4,
        !members[index].links.contains(where: { $0.card == key || $0.tag == key }),
        !members[index].albums.contains(where: { album in
          album == key || display.pages[album]?.contains(key) == true
            || members[index].base.pages[album]?.contains(key) == true
        })
      else { return }
      log.append("\(index): delete \(key)")
      try act(index) { try $0.delete(object(key, $0)) }
      members[index].mine.delete(key)
    case 18..<21:
      let parent = Bool.random(using: &random) ? nil : cards.randomElement(using: &random)
      // Without changes, an object that another commit has deleted remains until the next merge.
      let isBack = stored.items[card] == nil && members[index].base.items[card]?.parent == parent
      guard display.items[card]?.parent != parent, !isBack else { return }
      log.append("\(index): \(card).parent = \(parent.map(String.init) ?? "nil")")
      try act(index) { context in
        try object(card, context).setObject(
          parent.map { try object($0, context) }, forKey: "parent")
      }
      members[index].mine.items[card]?.parent = parent
    case 21..<24:
      guard let tag = keys("Tag").randomElement(using: &random) else { return }
      let link = PlainMerge.Link(card: card, tag: tag)
      guard members[index].links.insert(link).inserted else { return }
      log.append("\(index): \(card).tags \(display.tags.contains(link) ? "-" : "+") \(tag)")
      let isRemoved = members[index].mine.tags.remove(link) != nil
      if !isRemoved { members[index].mine.tags.insert(link) }
      try act(index) { context in
        let (tags, tag) = try (
          object(card, context).objects(forKey: "tags"), object(tag, context)
        )
        if isRemoved { try tags.remove(tag) } else { try tags.insert(tag) }
      }
    default:
      guard let album = keys("Album").randomElement(using: &random) else { return }
      var pages = display.pages[album] ?? []
      if Bool.random(using: &random) {
        pages.shuffle(using: &random)
      } else if let position = pages.firstIndex(of: card) {
        pages.remove(at: position)
      } else {
        pages.append(card)
      }
      guard pages != display.pages[album], members[index].albums.insert(album).inserted
      else { return }
      log.append("\(index): \(album).pages = \(pages)")
      try act(index) { context in
        try object(album, context).objects(forKey: "pages").replaceAll(
          with: pages.map { try object($0, context) })
      }
      members[index].mine.pages[album] = pages
    }
  }

  private mutating func newValue() -> Int {
    nextValue += 1
    return nextValue
  }

  private mutating func setValue(_ index: Int, _ key: Int, _ display: State) throws {
    let (name, value) = randomValue()
    guard display.items[key]?[name] != value, members[index].base.items[key]?[name] != value
    else { return }
    log.append("\(index): \(key).\(name) = \(Self.text(value))")
    try act(index) { context in
      let object = try object(key, context)
      if name == "labels" {
        (object as? MergeCard)?.labels = Self.labels(value)
      } else {
        try object.setValue(value, forKey: name)
      }
    }
    if fault == .withheldEdit, nextValue > 20 { return }
    members[index].mine.items[key]?[name] = value
  }

  private mutating func randomValue() -> (String, PropertyValue) {
    let number = newValue()
    let isNone = Int.random(in: 0..<5, using: &random) == 0
    let size = Bool.random(using: &random) ? 20_000 : 40
    func bytes() -> PropertyValue {
      .binary(Data("\(number)".utf8) + Data(repeating: 7, count: size))
    }
    switch Int.random(in: 0..<10, using: &random) {
    case 0: return ("number", .integer(Int64(number)))
    case 1, 2: return ("note", isNone ? .null : .string("\(number)"))
    case 3: return ("inline", isNone ? .null : bytes())
    case 4, 5: return ("photo", isNone ? .null : bytes())
    case 6: return ("scan", isNone ? .null : bytes())
    case 7: return ("must", isNone ? .binary(Data()) : bytes())
    case 8:
      let texts = (0..<(size > 100 ? 3000 : 2)).map { PropertyValue.string("\(number) \($0)") }
      return ("labels", isNone ? .null : .list(texts))
    default:
      let place = ["city": PropertyValue.string("\(number)"), "floor": .integer(3)]
      return ("place", isNone ? .null : .composite(place))
    }
  }

  private static func labels(_ value: PropertyValue) -> [String]? {
    guard case .list(let texts) = value else { return nil }
    return texts.compactMap { if case .string(let text) = $0 { text } else { nil } }
  }

  private mutating func insert(_ index: Int, _ entity: String) throws {
    guard members[index].mine.items.count < 12 else { return }
    let key = nextKey
    nextKey += 1
    log.append("\(index): \(key) = insert \(entity)")
    ids[key] = try ObjectID(
      result(index) { "\(try members[index].context.insert(entity).objectID)" })
    var item = PlainMerge.Item(entity: entity)
    if entity == "Card" { item.values = ["number": .integer(0), "must": .binary(Data())] }
    members[index].mine.items[key] = item
    if entity == "Album" { members[index].mine.pages[key] = [] }
  }

  private mutating func populate() throws {
    for entity in ["Card", "Card", "Card", "Tag", "Tag", "Album"] { try insert(0, entity) }
    for card in 1...3 { try setPhoto(card) }
    try commit(0)
  }

  private mutating func setPhoto(_ card: Int) throws {
    let value = PropertyValue.binary(Data("\(newValue())".utf8) + Data(count: 20_000))
    for name in ["photo", "must"] {
      try act(0) { try object(card, $0).setValue(value, forKey: name) }
      members[0].mine.items[card]?[name] = value
    }
  }

  func object(_ key: Int, _ context: ManagedObjectContext) throws -> ManagedObject {
    guard let id = ids[key] else { throw difference("no ID of \(key)") }
    return try context.object(with: id)
  }

  // MARK: Comparing

  /// Compares a context with its dictionaries, and both sides of every relationship.
  private func compare(_ index: Int, isSettled: Bool) throws {
    guard owns(index) else { return }
    let context = members[index].context
    if isSettled { _ = try context.mergeExternalCommits() }
    let state = isSettled ? stored : display(index)
    for entity in ["Card", "Tag", "Album"] {
      let expected = state.items.filter { $0.value.entity == entity }.keys.sorted()
      let found = try context.fetchIDs(FetchRequest<ManagedObject>(entity: entity)).map { id in
        ids.first { $0.value == id }?.key ?? 0
      }
      guard found.sorted() == expected else {
        throw difference("\(index): \(entity) has \(found.sorted()), not \(expected)")
      }
    }
    func key(_ object: ManagedObject?) -> Int? {
      object.flatMap { object in
        object.isDeleted ? nil : ids.first { $0.value == object.objectID }?.key
      }
    }
    for (card, item) in state.items.sorted(by: { $0.key < $1.key }) {
      let object = try object(card, context)
      for name in Self.names(of: item.entity) {
        let found = value(name, of: object)
        // Another process has deleted the object with its large values.
        let isLost =
          partner != nil && !isSettled && stored.items[card] == nil && Self.isLarge(item[name])
        let mayDiffer =
          !isSettled
          && members[index].alternatives[.init(key: card, name: name)]?.contains(found) == true
        guard found == item[name] || mayDiffer || isLost else {
          throw difference(
            "\(index): \(card).\(name) is \(Self.text(found)), not "
              + Self.text(item[name]))
        }
      }
      switch item.entity {
      case "Card":
        let parent = key(try object.object(forKey: "parent"))
        guard parent == item.parent else {
          throw difference(
            "\(index): \(card).parent is \(parent ?? 0), not \(item.parent ?? 0)")
        }
        try compare(
          object, "kids", card, index, state.items.filter { $0.value.parent == card }.map(\.key))
        try compare(object, "tags", card, index, state.tags.filter { $0.card == card }.map(\.tag))
        try compare(
          object, "albums", card, index, state.pages.filter { $0.value.contains(card) }.map(\.key))
      case "Tag":
        try compare(object, "cards", card, index, state.tags.filter { $0.tag == card }.map(\.card))
      default:
        let found = try pages(of: card, context)
        guard Set(found) == Set(state.pages[card] ?? []),
          !isSettled || found == state.pages[card]
        else { throw difference("\(index): \(card).pages is \(found)") }
      }
    }
    // A reference to an object whose deletion is pending isn't nil.
    if !isSettled,
      shown(index).items.contains(where: { state.items[$0.key]?.parent != $0.value.parent })
    {
      return
    }
    let cards = state.items.values.filter { $0.entity == "Card" }
    let parents = Set(cards.compactMap(\.parent))
    let counts = [
      ("parent != nil", cards.count { $0.parent != nil }), ("kids.@count > 0", parents.count),
      ("ANY kids.number >= 0", parents.count),
      ("tags.@count > 0", Set(state.tags.map(\.card)).count),
    ]
    for (predicate, expected) in counts {
      let found = try context.count("Card", matching: FetchPredicate(format: predicate))
      guard found == expected else {
        throw difference("\(index): \(predicate) finds \(found), not \(expected)")
      }
    }
  }

  private static func names(of entity: String) -> [String] {
    switch entity {
    case "Card": ["number", "note", "echo", "inline", "place"] + external
    case "Album": ["title"]
    default: []
    }
  }

  private func compare(
    _ object: ManagedObject, _ name: String, _ key: Int, _ index: Int, _ expected: [Int]
  ) throws {
    let found = try object.objects(forKey: name).fetch().map { member in
      ids.first { $0.value == member.objectID }?.key ?? 0
    }
    guard found.sorted() == expected.sorted() else {
      throw difference("\(index): \(key).\(name) is \(found.sorted()), not \(expected.sorted())")
    }
  }

  private static func text(_ value: PropertyValue) -> String {
    switch value {
    case .binary(let data):
      let start = String(decoding: data.prefix { $0 >= 0x30 && $0 < 0x3A }, as: UTF8.self)
      return "\(data.count) bytes of \(start)"
    case .list(let texts): return "\(texts.count) texts \(texts.first.map(text) ?? "")"
    case .null: return "nil"
    default: return "\(value)"
    }
  }

  func difference(_ what: String) -> Mismatch {
    Mismatch(description: "\(what)\nseed \(seed)\n\(log.joined(separator: "\n"))")
  }
}
