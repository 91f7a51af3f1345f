import ArborModel
import ArborStore
import TestSupport
import Testing

@Suite struct StoreFileTests {
  @Test(arguments: [false, true])
  func keepsWhatIsCommitted(inMemory: Bool) throws {
    try TemporaryStore.use(OfficeModel.make(), inMemory: inMemory) { store in
      let draft = Draft(store.file)
      let company = try draft.insert("Company", ["name": "Foo Inc."])
      let ada = try draft.insert(
        "Employee", ["name": "Ada", "employeeID": 1], to: ["company": company])
      let receipt = try draft.commit()
      #expect(receipt.sequence == 1)
      #expect(company.sequence == 1 && ada.sequence == 1)
      #expect(try draft.value(ada, "name") == "Ada")
      #expect(try draft.value(ada, "age") == 18)
      #expect(try draft.members(company, "employees") == [ada])
      if !inMemory {
        try store.reopen()
        let again = Draft(store.file)
        #expect(try again.value(ada, "name") == "Ada")
        #expect(try again.members(company, "employees") == [ada])
        #expect(store.file.lastSequence == 1)
      }
    }
  }
}
