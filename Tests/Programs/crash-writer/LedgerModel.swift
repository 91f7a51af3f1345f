import ArborData

/// The store that the crash tests write: accounts, transfers between them, and labels.
///
/// Everything the store keeps apart takes part in each commit: records, indexes, unique values,
/// to-one and many-to-many relationships, cascades, unique IDs and a counter.
final class Ledger: ManagedObject {
  override class var entityDescription: EntityDescription { description }
  private static let description = EntityDescription(
    name: "Ledger", className: "Ledger",
    attributes: [AttributeDescription(name: "round", type: .integer64, defaultValue: 0)])

  /// The number of the last round that was committed.
  var round: Int {
    get { attribute(0) }
    set { setAttribute(0, newValue) }
  }
}

/// What money moves between. Its balance is the sum of its entries.
final class Account: ManagedObject {
  override class var entityDescription: EntityDescription { description }
  private static let description = EntityDescription(
    name: "Account", className: "Account",
    attributes: [
      AttributeDescription(name: "accountNumber", type: .integer64, defaultValue: 0),
      AttributeDescription(name: "balance", type: .integer64, defaultValue: 0, isIndexed: true),
    ],
    relationships: [
      RelationshipDescription(
        name: "entries", destination: "Entry", inverse: "account", isToMany: true,
        deleteRule: .cascade),
      RelationshipDescription(
        name: "labels", destination: "Label", inverse: "accounts", isToMany: true),
    ],
    uniquenessConstraints: [["accountNumber"]])

  var accountNumber: Int {
    get { attribute(0) }
    set { setAttribute(0, newValue) }
  }
  var balance: Int {
    get { attribute(1) }
    set { setAttribute(1, newValue) }
  }
  var entries: Set<Entry> {
    get { toMany(0) }
    set { setToMany(0, newValue) }
  }
  var labels: Set<Label> {
    get { toMany(1) }
    set { setToMany(1, newValue) }
  }
}

/// One side of a transfer.
final class Entry: ManagedObject {
  override class var entityDescription: EntityDescription { description }
  private static let description = EntityDescription(
    name: "Entry", className: "Entry",
    attributes: [
      AttributeDescription(name: "entryID", type: .integer64, defaultValue: 0),
      AttributeDescription(name: "round", type: .integer64, defaultValue: 0, isIndexed: true),
      AttributeDescription(name: "amount", type: .integer64, defaultValue: 0),
      AttributeDescription(name: "note", type: .string, defaultValue: "", isIndexed: true),
    ],
    relationships: [
      RelationshipDescription(name: "account", destination: "Account", inverse: "entries")
    ],
    uniquenessConstraints: [["entryID"]])

  var entryID: Int64 {
    get { attribute(0) }
    set { setAttribute(0, newValue) }
  }
  var round: Int {
    get { attribute(1) }
    set { setAttribute(1, newValue) }
  }
  var amount: Int {
    get { attribute(2) }
    set { setAttribute(2, newValue) }
  }
  var note: String {
    get { attribute(3) }
    set { setAttribute(3, newValue) }
  }
  var account: Account? {
    get { toOne(0) }
    set { setToOne(0, newValue) }
  }
}

/// A word on any number of accounts.
final class Label: ManagedObject {
  override class var entityDescription: EntityDescription { description }
  private static let description = EntityDescription(
    name: "Label", className: "Label",
    attributes: [AttributeDescription(name: "name", type: .string, defaultValue: "")],
    relationships: [
      RelationshipDescription(
        name: "accounts", destination: "Account", inverse: "labels", isToMany: true)
    ],
    uniquenessConstraints: [["name"]])

  var name: String {
    get { attribute(0) }
    set { setAttribute(0, newValue) }
  }
  var accounts: Set<Account> {
    get { toMany(0) }
    set { setToMany(0, newValue) }
  }
}

/// The typed classes of the ledger.
enum LedgerClasses {
  static var all: [ManagedObject.Type] { [Ledger.self, Account.self, Entry.self, Label.self] }
}
