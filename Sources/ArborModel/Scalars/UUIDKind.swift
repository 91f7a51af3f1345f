package import ArborJSON
package import Foundation

package enum UUIDKind: AttributeKind {
  package static var type: AttributeType { .uuid }
  package static var field: FieldKind { .uuid }
  package static var fingerprintCode: UInt8 { 11 }
  package static var xmlName: String { "UUID" }
  package static var jsonName: String { "uuid" }
  package static var swiftName: String { "UUID" }
  package static var expectation: String { "a UUID such as 6BA7B810-9DAD-11D1-80B4-00C04FD430C8" }
  package static var documentExpectation: String { "a UUID as a string" }
  package static var valueKind: ValueKind { .uuid }
  package static var isDocumentText: Bool { true }

  package static func keeps(_ value: Value) -> Bool { value.uuid != nil }

  package static func form(of value: Value) -> Value? {
    switch value {
    case .uuid: value
    case .string(let text): UUID(uuidString: text).map(Value.uuid)
    default: Value?.none
    }
  }

  package static func value(ofJSON text: String) -> Value? { fitting(.string(text)) }
  package static func value(ofXML text: String) -> Value? { fitting(.string(text)) }
  package static func value(ofDocument node: JSONNode) -> Value? {
    node.string.flatMap(UUID.init(uuidString:)).map(Value.uuid)
  }
}

extension UUIDKind: FixedStoredKind {
  package typealias Slot = uuid_t

  package static var form: StorageForm { .identifier }
  package static var readAs: [FieldKind] { [.string] }

  package static func slot(of value: Value) -> Slot? { value.uuid?.uuid }
  package static func value(of slot: Slot) -> Value { .uuid(UUID(uuid: slot)) }
  package static func key(of value: Value) -> KeyPayload? { value.uuid.map(KeyPayload.identifier) }

  package static func value(ofBytes bytes: UnsafeRawBufferPointer) -> Value? {
    value(of: bytes.loadUnaligned(as: Slot.self))
  }
}
