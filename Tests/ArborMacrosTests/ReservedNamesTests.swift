import ArborSource
import Testing

@testable import ArborObjects

@Suite struct ReservedNamesTests {
  @Test func macrosAndRunTimeRefuseTheSame() {
    #expect(reservedPropertyNames == ManagedObject.reservedNames)
  }
}
