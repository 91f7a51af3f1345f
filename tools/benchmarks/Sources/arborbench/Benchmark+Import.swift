import ArborData
import Foundation

/// An office. Each item of the document contains its office, which a thousand items share.
final class Office: ManagedObject {
  override class var entityDescription: EntityDescription { description }
  override class var overriddenHooks: OverriddenHooks { OverriddenHooks(of: Office.self) }
  private static let description = EntityDescription(
    name: "Office", className: "Office",
    attributes: [
      AttributeDescription(name: "officeID", type: .integer64, defaultValue: 0),
      AttributeDescription(name: "name", type: .string, defaultValue: ""),
    ],
    relationships: [
      RelationshipDescription(
        name: "staff", destination: "Staff", inverse: "office", isToMany: true)
    ],
    uniquenessConstraints: [["officeID"]])

  var officeID: Int64 {
    get { _attribute(0) }
    set { _setAttribute(0, newValue) }
  }
  var name: String {
    get { _attribute(1) }
    set { _setAttribute(1, newValue) }
  }
}

/// An item of the document, with two relationships.
final class Staff: ManagedObject {
  override class var entityDescription: EntityDescription { description }
  override class var overriddenHooks: OverriddenHooks { OverriddenHooks(of: Staff.self) }
  private static let description = EntityDescription(
    name: "Staff", className: "Staff",
    attributes: [
      AttributeDescription(name: "staffID", type: .integer64, defaultValue: 0),
      AttributeDescription(name: "name", type: .string, defaultValue: ""),
      AttributeDescription(name: "email", type: .string, defaultValue: ""),
      AttributeDescription(name: "age", type: .integer64, defaultValue: 18, isIndexed: true),
      AttributeDescription(name: "salary", type: .double, defaultValue: 0),
      AttributeDescription(name: "hiredAt", type: .date, isOptional: true, isIndexed: true),
      AttributeDescription(name: "active", type: .boolean, defaultValue: false),
    ],
    relationships: [
      RelationshipDescription(
        name: "office", destination: "Office", inverse: "staff",
        userInfo: ["MergePolicy": "Merge"]),
      RelationshipDescription(
        name: "manager", destination: "Staff", inverse: "reports",
        userInfo: ["ImportReference": "{manager}"]),
      RelationshipDescription(
        name: "reports", destination: "Staff", inverse: "manager", isToMany: true),
    ],
    uniquenessConstraints: [["staffID"]])

  var staffID: Int64 {
    get { _attribute(0) }
    set { _setAttribute(0, newValue) }
  }
  var name: String {
    get { _attribute(1) }
    set { _setAttribute(1, newValue) }
  }
  var email: String {
    get { _attribute(2) }
    set { _setAttribute(2, newValue) }
  }
  var age: Int {
    get { _attribute(3) }
    set { _setAttribute(3, newValue) }
  }
  var salary: Double {
    get { _attribute(4) }
    set { _setAttribute(4, newValue) }
  }
  var hiredAt: Date? {
    get { _attribute(5) }
    set { _setAttribute(5, newValue) }
  }
  var active: Bool {
    get { _attribute(6) }
    set { _setAttribute(6, newValue) }
  }
  var office: Office? {
    get { _toOne(0) }
    set { _setToOne(0, newValue) }
  }
  var manager: Staff? {
    get { _toOne(1) }
    set { _setToOne(1, newValue) }
  }
}

/// The values of an item, independent of the library that stores them.
private struct StaffItem {
  static let perOffice = 1_000

  let number: Int

  var name: String { "Person \(number) of \(number / Self.perOffice)" }
  var email: String { "person.\(number)@example.com" }
  var age: Int { 18 + number * 7 % 50 }
  var salary: Double { Double(number * 31 % 100_000) + 0.5 }
  var hiredAt: Date {
    Date(timeIntervalSince1970: Double(1_500_000_000 + number * 61 % 300_000_000))
  }
  var isActive: Bool { number % 3 != 0 }
  var office: Int { number / Self.perOffice }
  /// Every ten people report to one that precedes them in the document.
  var manager: Int? { number == 0 ? nil : number / 10 }
}

extension Benchmark {
  private var batch: Int { 20_000 }

  /// Writes `FILE.json`, the document that the other modes read.
  func writeDocument() throws {
    guard FileManager.default.createFile(atPath: path + ".json", contents: nil) else {
      throw BenchmarkError("no file \(path).json")
    }
    let file = try FileHandle(forWritingTo: URL(filePath: path + ".json"))
    defer { try? file.close() }
    var text = "["
    for number in 0..<count {
      let item = StaffItem(number: number)
      text += number == 0 ? "\n" : ",\n"
      text += #"{"staffID": \#(number), "name": "\#(item.name)", "email": "\#(item.email)", "#
      text += #""age": \#(item.age), "salary": \#(item.salary), "active": \#(item.isActive), "#
      text += #""hiredAt": "\#(item.hiredAt.formatted(.iso8601))", "#
      text += #""office": {"officeID": \#(item.office), "name": "Office \#(item.office)"}, "#
      text += #""manager": \#(item.manager.map(String.init) ?? "null")}"#
      if text.utf8.count > 1 << 20 {
        try file.write(contentsOf: Data(text.utf8))
        text = ""
      }
    }
    try file.write(contentsOf: Data((text + "\n]\n").utf8))
  }

  /// Inserts the same objects from code that has their values and records their IDs.
  func insertByHand() throws {
    let store = try PersistentStore(for: [Office.self, Staff.self], at: .path(path))
    try Meter.measure("18_by_hand") {
      let context = store.makeContext()
      var staffIDs: [ObjectID] = []
      var offices: [ObjectID] = []
      for start in stride(from: 0, to: count, by: batch) {
        for number in start..<min(start + batch, count) {
          let item = StaffItem(number: number)
          let staff = context.insert(Staff.self)
          staff.staffID = Int64(number)
          staff.name = item.name
          staff.email = item.email
          staff.age = item.age
          staff.salary = item.salary
          staff.hiredAt = item.hiredAt
          staff.active = item.isActive
          if item.office == offices.count {
            let office = context.insert(Office.self)
            office.officeID = Int64(item.office)
            office.name = "Office \(item.office)"
            offices.append(office.objectID)
          }
          staff.office = try context.object(with: offices[item.office]) as? Office
          if let manager = item.manager {
            staff.manager = try context.object(with: staffIDs[manager]) as? Staff
          }
          staffIDs.append(staff.objectID)
        }
        try context.commit()
        context.reset()
      }
      return (count, 0)
    }
  }

  /// Imports the document twice.
  func importDocument() async throws {
    let store = try PersistentStore(for: [Office.self, Staff.self], at: .path(path))
    var options = ImportOptions()
    options.batchSize = batch
    for name in ["18_import", "18_import_again"] {
      let meter = Meter()
      let done = try await store.importObjects(
        from: .file(URL(filePath: path + ".json")), as: "Staff", options: options
      ).finish()
      meter.report(name, count: done.items, checksum: UInt64(done.inserted + done.updated))
    }
  }
}
