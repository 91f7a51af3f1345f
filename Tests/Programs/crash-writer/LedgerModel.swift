import ArborData

/// The root object of the store that the crash tests write: accounts, transfers between them, and
/// labels.
///
/// Every commit touches all separately stored structures: records, indexes, unique values, to-one
/// and many-to-many relationships, cascades, unique IDs and a counter.
final class Ledger: ManagedObject {
  override class var entityDescription: EntityDescription { description }
  private static let description = EntityDescription(
    name: "Ledger", className: "Ledger",
    attributes: [AttributeDescription(name: "round", type: .integer64, defaultValue: 0)])

  /// The number of the last committed round.
  var round: Int {
    get { _attribute(0) }
    set { _setAttribute(0, newValue) }
  }
}

/// An account, whose balance is the sum of its entries.
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
    get { _attribute(0) }
    set { _setAttribute(0, newValue) }
  }
  var balance: Int {
    get { _attribute(1) }
    set { _setAttribute(1, newValue) }
  }
  var entries: Set<Entry> {
    get { _toMany(0) }
    set { _setToMany(0, newValue) }
  }
  var labels: Set<Label> {
    get { _toMany(1) }
    set { _setToMany(1, newValue) }
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
    get { _attribute(0) }
    set { _setAttribute(0, newValue) }
  }
  var round: Int {
    get { _attribute(1) }
    set { _setAttribute(1, newValue) }
  }
  var amount: Int {
    get { _attribute(2) }
    set { _setAttribute(2, newValue) }
  }
  var note: String {
    get { _attribute(3) }
    set { _setAttribute(3, newValue) }
  }
  var account: Account? {
    get { _toOne(0) }
    set { _setToOne(0, newValue) }
  }
}

/// A label on any number of accounts.
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
    get { _attribute(0) }
    set { _setAttribute(0, newValue) }
  }
  var accounts: Set<Account> {
    get { _toMany(0) }
    set { _setToMany(0, newValue) }
  }
}

/// The typed classes of the ledger.
enum LedgerClasses {
  static var all: [ManagedObject.Type] { [Ledger.self, Account.self, Entry.self, Label.self] }
}
