import ArborJSON
import ArborModel
import Testing

@testable import ArborObjects

private class Plain: ManagedObject {}
private class Validating: ManagedObject {
  override func validate(_ value: Value, forKey key: String) throws {}
}
private final class Importing: ManagedObject {
  override func importValue(_ value: JSONValue, forKey key: String) -> Bool { false }
}
private class Hearing: ManagedObject {
  override func didImport(from json: JSONValue) {}
}
private class Awaking: ManagedObject {
  override func awakeFromFetch() {}
}
/// Other overrides and members of its own say nothing of the hooks.
private class Busy: ManagedObject {
  var calls = 1
  override func awakeFromInsert() { calls += 1 }
  override func willCommit() { calls += 1 }
  override func validateForInsert() throws { try super.validateForInsert() }
  func validate(_ value: Value) {}
  func importValue(_ value: JSONValue) -> Bool { true }
}
private class PlainBelow: Validating {}
private final class HearingBelow: PlainBelow {
  override func didImport(from json: JSONValue) { super.didImport(from: json) }
}
private class Box<T>: ManagedObject {
  var content: T?
}
private class HearingBox<T>: Box<T> {
  override func didImport(from json: JSONValue) { content = nil }
}
private final class ImportingBox: HearingBox<Int> {
  override func importValue(_ value: JSONValue, forKey key: String) -> Bool {
    super.importValue(value, forKey: key)
  }
}

@Suite struct OverriddenHooksTests {
  @Test func whatAClassOverridesIsFound() {
    #expect(OverriddenHooks(of: ManagedObject.self) == [])
    #expect(OverriddenHooks(of: Plain.self) == [])
    #expect(OverriddenHooks(of: Busy.self) == [])
    #expect(OverriddenHooks(of: Validating.self) == .validate)
    #expect(OverriddenHooks(of: Importing.self) == .importValue)
    #expect(OverriddenHooks(of: Hearing.self) == .didImport)
    #expect(OverriddenHooks(of: Awaking.self) == .awakeFromFetch)
  }

  @Test func whatAClassInheritsCounts() {
    #expect(OverriddenHooks(of: PlainBelow.self) == .validate)
    #expect(OverriddenHooks(of: HearingBelow.self) == [.validate, .didImport])
  }

  @Test func genericClassesAreRead() {
    #expect(OverriddenHooks(of: Box<String>.self) == [])
    #expect(OverriddenHooks(of: HearingBox<[Int]>.self) == .didImport)
    #expect(OverriddenHooks(of: ImportingBox.self) == [.didImport, .importValue])
  }
}
