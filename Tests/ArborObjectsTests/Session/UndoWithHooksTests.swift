import ArborModel
import ArborObjects
import TestLength
import TestSupport
import Testing

/// Undo histories of objects with derived attributes and hooks that change objects on commit.
@Suite struct UndoWithHooksTests {
  private static func use(_ body: (ManagedObjectContext, UndoHistory, Invoice) throws -> Void)
    throws
  {
    let classes: [ManagedObject.Type] = [Invoice.self, Item.self]
    try ObjectStore.use(ManagedObjectModel(for: classes), classes: classes) { store in
      let context = store.makeContext()
      let invoice = context.insert(Invoice.self)
      for amount in 1...2 {
        let item = context.insert(Item.self)
        item.amount = amount
        item["invoice"] = invoice
      }
      try context.commit()
      let history = UndoHistory()
      context.undoHistory = history
      try body(context, history, invoice)
    }
  }

  private static func items(_ context: ManagedObjectContext) throws -> [Item] {
    try context.fetch(Item.self).sorted { $0.objectID.number < $1.objectID.number }
  }

  @Test("Committing an undone change keeps it redoable")
  func commitsKeepRedo() throws {
    try Self.use { context, history, invoice in
      let items = try Self.items(context)
      items[0].amount = 10
      history.closeGroup()
      items[1].amount = 20
      try context.commit()
      #expect((history.undoNames.count, history.redoNames.count) == (2, 0))
      #expect(invoice.total == 30 && invoice.checked == 30)
      history.undo()
      #expect((history.undoNames.count, history.redoNames.count) == (1, 1))
      try context.commit()
      #expect((history.undoNames.count, history.redoNames.count) == (1, 1))
      #expect(invoice.total == 12 && invoice.checked == 12)
      history.redo()
      #expect(items.map(\.amount) == [10, 20])
      try context.commit()
      #expect(invoice.total == 30 && invoice.checked == 30)
      history.undo()
      #expect(items.map(\.amount) == [10, 2])
    }
  }

  /// The amounts of the items by their number, and the invoice's name.
  private struct State: Equatable {
    var amounts: [UInt64: Int] = [:]
    var name = ""
  }

  private static func state(
    _ context: ManagedObjectContext, _ invoice: Invoice
  ) throws -> State {
    var state = State()
    for item in try items(context) { state.amounts[item.objectID.number] = item.amount }
    state.name = invoice.name
    return state
  }

  /// Runs random groups, undos, redos and commits, and compares counts and states with a list of
  /// states and a position.
  ///
  /// - Parameter defect: Whether the oracle expects no redo groups, for the negative control.
  /// - Returns: The first difference, or `nil`.
  private static func run(seed: UInt64, defect: Bool = false) throws -> String? {
    var difference: String?
    try use { context, history, invoice in
      var random = SplitMix(seed: seed)
      var states = [try state(context, invoice)]
      var position = 0
      for step in 0..<24 {
        // The first steps are fixed, so that each history undoes.
        switch step == 0 ? 0 : step == 1 ? 4 : Int.random(in: 0..<8, using: &random) {
        case 0, 1, 2, 3:
          invoice.name = "step \(step)"
          for _ in 0...Int.random(in: 0...2, using: &random) {
            try edit(context, invoice, &random)
          }
          history.closeGroup()
          let now = try state(context, invoice)
          if now != states[position] {
            states.removeSubrange((position + 1)...)
            states.append(now)
            position += 1
          }
        case 4, 5:
          history.undo()
          position = max(0, position - 1)
        case 6:
          history.redo()
          position = min(states.count - 1, position + 1)
        default:
          try context.commit()
          let sum = states[position].amounts.values.reduce(0, +)
          if invoice.total != sum || invoice.checked != sum {
            difference = "step \(step): \(invoice.total ?? -1), \(invoice.checked), not \(sum)"
          }
        }
        let found = try state(context, invoice)
        let counts = (history.undoNames.count, history.redoNames.count)
        let expected = (position, defect ? 0 : states.count - 1 - position)
        if found != states[position] {
          difference = "step \(step): \(found), not \(states[position])"
        } else if counts != expected {
          difference = "step \(step): \(counts), not \(expected)"
        }
        if difference != nil { return }
      }
    }
    return difference
  }

  private static func edit(
    _ context: ManagedObjectContext, _ invoice: Invoice, _ random: inout SplitMix
  ) throws {
    let items = try items(context)
    switch Int.random(in: 0..<6, using: &random) {
    case 0:
      let item = context.insert(Item.self)
      item.amount = .random(in: 0...9, using: &random)
      item["invoice"] = invoice
    case 1: if let item = items.randomElement(using: &random) { context.delete(item) }
    case 2: invoice.name = "name \(Int.random(in: 0...9, using: &random))"
    default: items.randomElement(using: &random)?.amount = .random(in: 0...9, using: &random)
    }
  }

  @Test("Random undo histories with hooks and derived attributes follow a list of states")
  func historiesFollowAListOfStates() throws {
    let start = UInt64.random(in: 0..<1 << 60)
    for round in 0..<TestLength.of(150, long: 10_000) {
      let seed = start &+ UInt64(round)
      let difference = try Self.run(seed: seed)
      #expect(difference == nil, "seed \(seed)")
      if difference != nil { return }
    }
  }

  @Test("An oracle without redo groups differs")
  func aWrongOracleDiffers() throws {
    #expect(try Self.run(seed: 1, defect: true) == "step 1: (0, 1), not (0, 0)")
  }
}

/// An invoice whose hook keeps the sum of its items and counts its changes.
private final class Invoice: ManagedObject {
  override class var entityDescription: EntityDescription { description }
  private static let description = EntityDescription(
    name: "Invoice", className: "Invoice",
    attributes: [
      AttributeDescription(name: "name", type: .string, defaultValue: ""),
      AttributeDescription(name: "checked", type: .integer64, defaultValue: 0),
      AttributeDescription(name: "changes", type: .integer64, defaultValue: 0),
      AttributeDescription(
        name: "total", type: .integer64, isOptional: true, derivation: "items.@sum.amount"),
    ],
    relationships: [
      RelationshipDescription(
        name: "items", destination: "Item", inverse: "invoice", isToMany: true)
    ])

  var name: String {
    get { _attribute(0) }
    set { _setAttribute(0, newValue) }
  }
  var checked: Int {
    get { _attribute(1) }
    set { _setAttribute(1, newValue) }
  }
  var total: Int? { _attribute(3) }

  override func willCommit() {
    let items: [ManagedObject] = self["items"]
    let sum = items.reduce(0) { $0 + ($1["amount"] as Int) }
    guard checked != sum else { return }
    checked = sum
    let changes: Int = self["changes"]
    self["changes"] = changes + 1
  }
}

private final class Item: ManagedObject {
  override class var entityDescription: EntityDescription { description }
  private static let description = EntityDescription(
    name: "Item", className: "Item",
    attributes: [AttributeDescription(name: "amount", type: .integer64, defaultValue: 0)],
    relationships: [
      RelationshipDescription(name: "invoice", destination: "Invoice", inverse: "items")
    ])

  var amount: Int {
    get { _attribute(0) }
    set { _setAttribute(0, newValue) }
  }

  override func willCommit() {
    let invoice: ManagedObject? = self["invoice"]
    invoice?.willCommit()
  }
}
