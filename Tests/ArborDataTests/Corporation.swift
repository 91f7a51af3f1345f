import ArborData
import Foundation
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Typed classes and a model file for companies with employees, and locations for their stores.
enum Corporation {
  /// The folder of all files that these tests write, which is removed when the process ends.
  private static let root: URL = {
    let root = FileManager.default.temporaryDirectory
      .appending(path: "corporation-\(UUID().uuidString)", directoryHint: .isDirectory)
    atexit { try? FileManager.default.removeItem(at: Corporation.root) }
    return root
  }()

  /// The application data folder of this process, which is set before the first manager uses it.
  static let applicationData: URL = {
    let folder = temporaryFolder()
    setenv("XDG_DATA_HOME", folder.path, 1)
    return folder
  }()

  /// Returns a new, empty folder.
  static func temporaryFolder() -> URL {
    let folder = root.appending(path: UUID().uuidString, directoryHint: .isDirectory)
    try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }

  /// Returns the URL of a file that doesn't exist yet, in a folder of its own.
  static func temporaryFile(_ ending: String) -> URL {
    temporaryFolder().appending(path: "file.\(ending)", directoryHint: .notDirectory)
  }

  /// Returns a manager of typed classes for an in-memory store.
  static func manager(
    delegate: (any DataManagerDelegate)? = nil, group: DataManagerGroup? = nil
  ) throws -> DataManager {
    try DataManager(
      for: Company.self, Employee.self, at: .inMemory, delegate: delegate, group: group)
  }

  /// Creates a folder that contains the model as a file with the given name.
  static func modelFolder(named name: String) throws -> URL {
    _ = applicationData
    let folder = temporaryFolder()
    let contents = folder.appending(path: "\(name).xcdatamodeld/\(name).xcdatamodel")
    try FileManager.default.createDirectory(at: contents, withIntermediateDirectories: true)
    try Data(modelXML.utf8).write(to: contents.appending(path: "contents"))
    return folder
  }

  static let modelXML = """
    <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
      <entity name="Company" syncable="YES">
        <attribute name="companyName" optional="YES" attributeType="String"/>
        <relationship name="employees" optional="YES" toMany="YES" deletionRule="Cascade" \
    destinationEntity="Employee" inverseName="company" inverseEntity="Employee"/>
      </entity>
      <entity name="Employee" syncable="YES">
        <attribute name="name" optional="YES" attributeType="String"/>
        <attribute name="salary" optional="YES" attributeType="Integer 64" \
    defaultValueString="0" usesScalarValueType="YES"/>
        <relationship name="company" optional="YES" maxCount="1" deletionRule="Nullify" \
    destinationEntity="Company" inverseName="employees" inverseEntity="Company"/>
      </entity>
      <fetchRequest name="wellPaidEmployees" entity="Employee" \
    includesPendingChanges="YES" predicateString="salary &gt; 1000"/>
      <fetchRequest name="companyWellPaidEmployees" entity="Employee" \
    includesPendingChanges="YES" predicateString="salary &gt; 1000 AND company == $company"/>
      <fetchRequest name="everyone" entity="Employee" includesPendingChanges="YES"/>
    </model>
    """
}

final class Company: ManagedObject {
  override class var entityDescription: EntityDescription { description }
  private static let description = EntityDescription(
    name: "Company", className: "Company",
    attributes: [AttributeDescription(name: "companyName", type: .string, defaultValue: "")],
    relationships: [
      RelationshipDescription(
        name: "employees", destination: "Employee", inverse: "company", isToMany: true,
        deleteRule: .cascade)
    ])

  var companyName: String {
    get { _attribute(0) }
    set { _setAttribute(0, newValue) }
  }
  var employees: Set<Employee> {
    get { _toMany(0) }
    set { _setToMany(0, newValue) }
  }
}

final class Employee: ManagedObject {
  override class var entityDescription: EntityDescription { description }
  private static let description = EntityDescription(
    name: "Employee", className: "Employee",
    attributes: [
      AttributeDescription(name: "name", type: .string, defaultValue: ""),
      AttributeDescription(name: "salary", type: .integer64, defaultValue: 0, isIndexed: true),
    ],
    relationships: [
      RelationshipDescription(name: "company", destination: "Company", inverse: "employees")
    ])

  var name: String {
    get { _attribute(0) }
    set { _setAttribute(0, newValue) }
  }
  var salary: Int {
    get { _attribute(1) }
    set { _setAttribute(1, newValue) }
  }
  var company: Company? {
    get { _toOne(0) }
    set { _setToOne(0, newValue) }
  }
}
