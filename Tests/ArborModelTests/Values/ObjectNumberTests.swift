import ArborModel
import Testing

@Suite struct ObjectNumberTests {
  @Test("An object number consists of the entity and the sequence")
  func numbersAreTwoParts() {
    let number = ObjectNumber(entity: 0xABCD, sequence: ObjectNumber.maximumSequence)
    #expect(number.entity == 0xABCD)
    #expect(number.sequence == ObjectNumber.maximumSequence)
    #expect(number.rawValue == 0xABCD_00FF_FFFF_FFFF)
    #expect(ObjectNumber(entity: 1, sequence: 5) < ObjectNumber(entity: 2, sequence: 1))
  }
}
