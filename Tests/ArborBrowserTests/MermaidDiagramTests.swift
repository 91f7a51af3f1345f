import ArborBrowser
import ArborModel
import Testing

@Suite("Class diagrams in Mermaid") struct MermaidDiagramTests {
  @Test("Parents, both directions of a relationship, and relationships without an inverse")
  func modelsAreDrawn() throws {
    #expect(
      MermaidDiagram(SchemaDifference(try ServedStore.makeModel())).text == #"""
        classDiagram
          class E1["Person"] {
            <<abstract>>
            string name
          }
          class E2["Employee"] {
            integer16 age
            decimal? salary
            date? hired
            uuid? badge
            boolean isActive
            binary? photo
            string? notes
          }
          class E3["Office"] {
            string city
          }
          class E4["Project"] {
            string title
          }
          E1 <|-- E2
          E2 "*" -- "1" E3 : office / employees
          E2 "*" -- "*" E4 : projects / members
        """#)
  }

  /// Models refuse such names, but a diagram doesn't depend on that.
  @Test("Hostile names don't change the structure of the diagram")
  func hostileNamesStayNames() {
    let name = "A\"]{\n<b>\u{202E}"
    var entity = EntityDescription(name) {
      AttributeDescription("x y;\"\u{202E}", .string, .optional)
    }
    entity.relationships = [
      RelationshipDescription("next\n\u{200B}", to: name, inverse: nil, .toMany, .optional),
      RelationshipDescription("friend", to: name, inverse: "friend", .optional),
    ]
    #expect(
      MermaidDiagram(SchemaDifference(ManagedObjectModel(entities: [entity]))).text == #"""
        classDiagram
          class E1["A#34;#93;#123;#92;n#60;b#62;#92;u#123;202E#125;"] {
            string? x_y___u_202E_
          }
          E1 --> "*" E1 : next#92;n#92;u#123;200B#125;
          E1 "1" -- "1" E1 : friend
        """#)
  }
}
