import ArborModelFiles
import ArborModel
import Foundation
import Testing

@Suite struct ModelXMLRendererTests {
  @Test("A model is written as Xcode writes it")
  func writesAsXcodeDoes() throws {
    let model = try ManagedObjectModel(versionIdentifier: "1") {
      EntityDescription("Company", className: "Company", uniquenessConstraints: [["name"]]) {
        AttributeDescription(
          "name", .string, .indexed, .bounds(1...20), .default("\"A\" & <B>\n'C'"),
          .userInfo(["key": "value"]))
        RelationshipDescription("employees", to: "Employee", inverse: "company", .toMany, .ordered)
      }
      EntityDescription("Employee") {
        RelationshipDescription("company", to: "Company", inverse: "employees")
      }
      FetchRequestTemplate("named", entity: "Company", predicate: "name > $NAME")
    }
    let text = String(decoding: try model.xmlData(), as: UTF8.self)
    let expected = #"""
      <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
      <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" \#
      minimumToolsVersion="Automatic" sourceLanguage="Swift" userDefinedModelVersionIdentifier="1">
          <entity name="Company" representedClassName="Company" syncable="YES">
              <attribute name="name" attributeType="String" minValueString="1" \#
      maxValueString="20" defaultValueString="&quot;A&quot; &amp; &lt;B&gt;&#10;'C'" indexed="YES">
                  <userInfo>
                      <entry key="key" value="value"/>
                  </userInfo>
              </attribute>
              <relationship name="employees" optional="YES" toMany="YES" deletionRule="Nullify" \#
      ordered="YES" destinationEntity="Employee" inverseName="company" inverseEntity="Employee"/>
              <uniquenessConstraints>
                  <uniquenessConstraint>
                      <constraint value="name"/>
                  </uniquenessConstraint>
              </uniquenessConstraints>
          </entity>
          <entity name="Employee" representedClassName="NSManagedObject" syncable="YES">
              <relationship name="company" optional="YES" maxCount="1" deletionRule="Nullify" \#
      destinationEntity="Company" inverseName="employees" inverseEntity="Company"/>
          </entity>
          <fetchRequest name="named" entity="Company" predicateString="name &gt; $NAME" \#
      includeSubentities="YES" includesPendingChanges="YES"/>
      </model>

      """#
    #expect(text == expected)
  }
}
