import ArborErrors
import Testing

@Suite struct NearestNameTests {
  @Test(
    "A similar name is suggested",
    arguments: [
      ("agee", "age"), ("nmae", "name"), ("Salary", "salary"), ("compny", "company"),
      ("employes", "employees"), ("x", "y"),
    ])
  func findsWhatWasMeant(unknown: String, meant: String) {
    let names = ["name", "age", "salary", "company", "employees"]
    #expect(NearestName.of(unknown, in: names) == (names.contains(meant) ? meant : nil))
  }

  @Test("A name that isn't similar is not suggested")
  func namesNothingThatIsFarAway() {
    #expect(NearestName.of("zzz", in: ["name", "age"]) == nil)
    #expect(NearestName.of("colour", in: ["salary", "company"]) == nil)
    #expect(NearestName.of("name", in: []) == nil)
  }

  @Test("The most similar name is suggested, and otherwise the first")
  func prefersTheNearestAndThenTheFirst() {
    #expect(NearestName.of("statuss", in: ["statute", "status"]) == "status")
    #expect(NearestName.of("cat", in: ["car", "can"]) == "car")
  }

  @Test("A hint is a sentence or empty")
  func hintIsASentenceOrNothing() {
    #expect(NearestName.hint("agee", in: ["age"]) == " Did you mean age?")
    #expect(NearestName.hint("agee", in: ["salary"]) == "")
  }
}
